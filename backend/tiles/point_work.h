// What one point of an operator's innermost loops costs, for a register tile: instructions, registers, and how each access lies
// along its lanes.
//
//   PointWork work(program, op, extents, prepared);
//   work.instructions({j, i, 16, 5, 5})      rows of 5 and 5 vectors of 16 lanes
#pragma once

#include <algorithm>

#include "backend/tiles/register_tile.h"
#include "ir/graph_ids.h"

namespace tap::backend {

// The work of one point, by the dims that it depends on.
class PointWork {
 public:
  PointWork(const ir::Program& program, const ir::Operator& op, const Extents& extents,
            const std::vector<bool>& prepared, const ir::Machine& machine);

  const ir::Monoid* monoid() const { return monoid_; }
  // Of the widest type of the computation.
  std::uint32_t bytes() const { return bytes_; }

  struct Tile {
    std::size_t dim;
    std::optional<std::size_t> rows;
    std::uint32_t lanes, row_count, vectors;
  };
  // Instructions per point, given what the tile shares.
  double instructions(const Tile& tile) const {
    double all = 0;
    for (ir::CellId id : needed_) all += copies(id, tile) * cost(id, tile);
    if (monoid_) all += tile.row_count * tile.vectors * registers_of(tile.lanes) * combination();
    return all;
  }
  // Of the machine, for that many lanes.
  std::uint32_t registers_of(std::uint32_t lanes) const { return std::max(lanes * bytes_ / vector_bytes_, 1u); }
  // Lane loads that rows share stay in registers.
  std::uint32_t registers(const Tile& tile) const;
  double combination() const { return combination_; }
  // Whether all results are contiguous along the dim, and all that is read, unless it is the same there.
  bool is_contiguous(std::size_t dim) const;
  // Storing a vector along the dim. Rows that are contiguous in the result are stored across, after a transpose in registers.
  double stores(std::size_t dim, std::uint32_t lanes, std::optional<std::size_t> rows = {},
                std::uint32_t row_count = 1) const;
  // Y[i, j] = X[j, i], lanes along i, rows along j: what lanes read is contiguous along one dim, and what is written along another.
  bool stores_across(std::size_t dim, std::size_t rows) const;
  // Whether these rows are 2 to 4: the cells of the lanes are so far apart.
  bool stores_every_few(std::size_t dim) const;
  double reads() const;
  // Whether rows read a window, which is copied: the reduction is then cut into few blocks (packing.h).
  bool reads_window(const Tile& tile) const;

 private:
  template <class Predicate>
  bool any_read(Predicate holds) const {
    return std::ranges::any_of(needed_, [&](ir::CellId id) {
      return op_.exprs[id].op == ir::CellOp::read && holds(id, op_.reads[op_.exprs[id].attribute]);
    });
  }
  std::uint32_t widest_type() const;
  bool follows(ir::CellId id, std::size_t dim) const { return follows_[id.index()][dim]; }
  enum class Along { same, dense, strided };
  double transposed_store(const ir::Access& write, const Tile& tile) const;
  bool is_far_along(const ir::Access& read, std::size_t dim) const;
  std::optional<double> store_every_few(const ir::Access& write, const Tile& tile) const;
  static Along kind(const std::vector<ir::AffineExpr>& rows, std::size_t dim);
  double copies(ir::CellId id, const Tile& tile) const;
  double cost(ir::CellId id, const Tile& tile) const;
  bool is_folded(ir::CellId id, const Tile& tile) const;
  // Row windows are copied first (packing.h): every cell is present.
  bool is_window(ir::CellId id, const ir::Access& access, const Tile& tile) const;
  double window_copy(const ir::Access& access, const Tile& tile) const;
  // Prepared lane operands: a vector is one load, from near memory.
  bool is_prepared(ir::CellId id, const ir::Access& access, const Tile& tile) const;
  // Bounds checks of a cell that rows read: for each row, or once for all.
  double guard(const ir::Access& access, const Tile& tile) const;
  // A cache line has many cells. Neighbouring cells are used by the rows, or by steps of the reduction; if neither,
  // every cell needs its own line, from farther away.
  double line_cost(const ir::Access& access, const Tile& tile) const;
  // Whether rows share what the lanes read.
  bool share_lanes(const Tile& tile) const;
  double contiguous_steps(const ir::Access& access, bool of_rows) const;
  double lines_of_rows(const ir::Access& access, const Tile& tile) const;
  bool rows_crowd(const ir::Access& access, const Tile& tile) const;
  bool is_read_once(const ir::Access& access, const Tile& tile) const;
  // Lane operands are read again for other points; by then the data of a long reduction has left the near caches.
  bool is_read_again(const ir::Access& access, const Tile& tile) const;
  double far_line(const ir::Access& access, const ir::TensorType& type) const;
  double short_of_line(ir::CellId id, const ir::Access& access, const Tile& tile) const;
  double far_lines(const ir::Access& access, const ir::TensorType& type, const Tile& tile) const;
  double footprint(const ir::Access& access, const ir::TensorType& type) const;  // bytes
  double bytes_between_reads(const ir::Access& access, const Tile& tile) const;
  double panel_cost(ir::CellId id, const ir::Access& access, const Tile& tile) const;
  double far_memory_cost(ir::CellId id, const ir::Access& access, const Tile& tile) const;
  // Along a reduction: the load from a copy that is contiguous, and its share of the copying.
  std::optional<double> lane_copy(const ir::Access& access, const Tile& tile) const;
  double line_crossings(const ir::Access& access, const Tile& tile) const;
  // One load per lane; or, for a copy that is reused enough, one for all lanes, and its share of the copy.
  std::optional<double> every_few(const ir::Access& access, const Tile& tile) const;
  double strided(ir::CellId id, const ir::Access& access, const Tile& tile) const;

  const ir::Operator& op_;
  const Extents& extents_;
  const std::vector<bool> prepared_;
  std::vector<ir::CellId> needed_;
  std::vector<std::vector<bool>> follows_;  // by needed cell and dim: whether the cell depends on it
  std::uint32_t bytes_, vector_bytes_;
  double combination_ = 0;  // instructions to combine two values
  const ir::Monoid* monoid_ = nullptr;
};

// Instructions of a point that shares nothing with others, its accesses included; without those of the monoid.
double instructions_of_point(const ir::Operator& op);
// How many points of a few instructions, which take as long as their accesses, take as long as one.
double usual_points(const ir::Operator& op);
// Of a reduction whose reads are shared: what is computed and combined, a product that is added as one instruction.
double steps_of_point(const ir::Program& program, const ir::Operator& op);

}  // namespace tap::backend
