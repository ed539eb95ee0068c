// What the devices of a mesh receive for what a site reads: the boxes that its projections give, less what each device
// holds. Halos, reversed reads, windows wider than a block and parts of a tensor are all counted alike.
//
//   y[i] = x[7 - i], i over x = 4, x held as m[{x}]       2 cells: all of a device's block are elsewhere
//   y[i] = x[0, i], x held as m[{x}, {}]                  a block of one row, not of all rows
#pragma once

#include "passes/shardings/explicit_reshards.h"
#include "passes/splits/transfer_space.h"

namespace tap::passes {

// The part of a value that one of its several writers computes: where the blocks of the value meet its writes.
struct WriterBlocks {
  ir::Access write;
  ir::Sharding sharding;
  Shape shape;
  bool operator==(const WriterBlocks&) const = default;
};
// What one transfer of the realised program moves. Reads that are far apart have separate ones.
struct SiteRead {
  TransferSpace transfer;
  std::optional<WriterBlocks> writer = {};  // then the transfer has no placements
};
// Then all devices need the same regions for both, which share what is moved.
bool are_alike(const SiteRead& a, const SiteRead& b);

// All reads of the operand of use `use`, as realise() makes transfers for the site's split operations; none is alike
// another. Pre: the site has a mesh.
std::vector<SiteRead> reads_of_site(const ir::Program& program, const ir::Graph& graph, const SiteShardings& site,
                                    std::size_t use);

// The cells that the busiest device receives. On large meshes, a few positions along each axis are looked at: boxes are
// affine in the position, so that the most is at the ends or in the middle.
std::int64_t cells_received(const ir::Mesh& mesh, const std::vector<SiteRead>& reads, const ir::Sharding& held,
                            const Shape& shape);
// … that it receives to hold the value in another sharding of the mesh, in one transfer.
std::int64_t cells_received(const ir::Mesh& mesh, const ir::Sharding& from, const ir::Sharding& to, const Shape& shape);
// … that the busiest device reads.
std::int64_t cells_read(const ir::Mesh& mesh, const std::vector<SiteRead>& reads);
// … that the devices at these positions receive. Different reads have different busiest devices, so that sums are over devices.
std::vector<std::int64_t> cells_received(const ir::Mesh& mesh, const std::vector<std::int64_t>& positions,
                                         const std::vector<SiteRead>& reads, const ir::Sharding& held,
                                         const Shape& shape);
// All positions of a mesh; on large ones, those with a few coordinates along each axis.
std::vector<std::int64_t> positions_of(const ir::Mesh& mesh);

// The running dim of a scan is divided over this axis: each device receives the totals of the blocks of the others.
struct DividedScan {
  std::uint32_t along = 0, reduced = 0;  // dims
  ir::AxisRef over;
  std::int64_t bytes_of_totals = 0;  // that a device receives
};
std::optional<DividedScan> divided_scan(const ir::Program& program, const ir::Graph& graph, const Site& site,
                                        ir::MeshId mesh, const std::vector<ir::Axes>& factors);

}  // namespace tap::passes
