#include "passes/splits/transfer_space.h"

#include <algorithm>
#include <optional>
#include <set>

namespace tap::passes {

using namespace ir;

namespace {

// Whether each block of the range, and each block of those, has points.
bool have_points(const Operator& op, std::uint32_t dim) {
  std::set<std::int64_t> sizes{op.dims[dim].range.size()};
  for (const Blocking& b : op.blockings) {
    if (b.dim != dim) continue;
    std::set<std::int64_t> of_blocks;
    for (std::int64_t size : sizes) {
      // Equal blocks but the last ones are alike.
      const std::size_t listed = b.blocks.boundaries.size();
      for (std::size_t k = 1; k < listed; ++k) of_blocks.insert(b.blocks.boundaries[k] - b.blocks.boundaries[k - 1]);
      if (listed == 0)
        for (std::int64_t number : {std::int64_t{0}, b.blocks.count - 1})
          of_blocks.insert(b.blocks.block({0, size}, number).size());
    }
    sizes = std::move(of_blocks);
  }
  return !sizes.contains(0);
}

// The dims that decide what is moved, and the transfer over them.
class NeededDims {
 public:
  NeededDims(Operator op, std::vector<BlockPlacement> placements)
      : op_(std::move(op)), placements_(std::move(placements)) {
    for (const Access& read : op_.reads)
      for (const AffineExpr& row : read.projection.start.rows) keep_dims_of(row);
    keep_constraints();
    keep_blocks();
  }

  // Whether a device on which the reader has nothing to do might need less than the others.
  bool leaves_out_empty_blocks() const {
    return std::ranges::any_of(op_.blockings, [&](const Blocking& b) {
      return is_placed(b.block_dim) && !is_kept(b.block_dim) && !have_points(op_, b.dim);
    });
  }

  TransferSpace space() const {
    TransferSpace out{op_, {}};
    out.op.dims.clear();
    for (std::uint32_t d : kept_) out.op.dims.push_back(op_.dims[d]);
    out.op.constraints.clear();
    for (const Constraint& c : constraints_) out.op.constraints.push_back({renumbered(c.expr), c.comparison});
    out.op.blockings.clear();
    for (const Blocking& b : blockings_) out.op.blockings.push_back({number(b.dim), number(b.block_dim), b.blocks});
    for (Access& read : out.op.reads) {
      read.projection.start.inputs = kept_.size();
      for (AffineExpr& row : read.projection.start.rows) row = renumbered(row);
    }
    out.op.writes = out.op.reads;
    for (BlockPlacement placed : placements_)
      if (is_kept(placed.dim)) {
        placed.dim = number(placed.dim);
        out.placements.push_back(std::move(placed));
      }
    std::ranges::stable_sort(out.placements, {}, &BlockPlacement::dim);
    return out;
  }

 private:
  bool is_kept(std::uint32_t dim) const { return std::ranges::find(kept_, dim) != kept_.end(); }
  bool is_placed(std::uint32_t dim) const { return std::ranges::count(placements_, dim, &BlockPlacement::dim) > 0; }
  void keep(std::uint32_t dim) {
    if (!is_kept(dim)) kept_.push_back(dim);
  }
  std::uint32_t number(std::uint32_t dim) const {
    return static_cast<std::uint32_t>(std::ranges::find(kept_, dim) - kept_.begin());
  }
  void keep_dims_of(const AffineExpr& row) {
    for (std::uint32_t d = 0; d < row.coefficients.size(); ++d)
      if (row.coefficients[d] != 0) keep(d);
  }
  AffineExpr renumbered(const AffineExpr& row) const {
    AffineExpr out = AffineExpr::constant(kept_.size(), row.offset);
    for (std::size_t k = 0; k < kept_.size(); ++k) out.coefficients[k] = row.coefficients[kept_[k]];
    return out;
  }

  // Those that bound kept dims, and with them the other dims that they have.
  void keep_constraints() {
    std::vector<bool> taken(op_.constraints.size());
    for (bool any = true; any;) {
      any = false;
      for (std::size_t c = 0; c < taken.size(); ++c) {
        const AffineExpr& expr = op_.constraints[c].expr;
        const bool concerns = std::ranges::any_of(kept_, [&](std::uint32_t d) { return expr.coefficients[d] != 0; });
        if (taken[c] || !concerns || is_of_scan(c)) continue;
        keep_dims_of(expr);
        constraints_.push_back(op_.constraints[c]);
        taken[c] = any = true;
      }
    }
  }

  // The bound of a scan in blocks (split_scan.h): a block of the running dim reads the block of the reduced dim with its number,
  // which the totals read, too.
  //   l[i] = sum[k] x[k], k <= i, both in block r      x[k], k in block r
  bool is_of_scan(std::size_t constraint) const {
    const AffineExpr& expr = op_.constraints[constraint].expr;
    std::optional<std::uint32_t> running;
    for (std::uint32_t d = 0; d < op_.dims.size(); ++d) {
      if (expr.coefficients[d] == 0 || is_kept(d)) continue;
      if (running) return false;
      running = d;
    }
    if (!running) return false;
    for (std::size_t c = 0; c < op_.constraints.size(); ++c)
      if (c != constraint && op_.constraints[c].expr.coefficients[*running] != 0) return false;
    const std::vector<std::uint32_t> blocks = placed_blocks_of(*running);
    if (blocks.size() != 1) return false;
    for (std::uint32_t d : kept_)
      if (expr.coefficients[d] != 0 && placed_blocks_of(d) == blocks) return true;
    return false;
  }
  std::vector<std::uint32_t> placed_blocks_of(std::uint32_t dim) const {
    std::vector<std::uint32_t> dims;
    for (const Blocking& b : op_.blockings)
      if (b.dim == dim && is_placed(b.block_dim)) dims.push_back(b.block_dim);
    return dims;
  }

  // Blocks on devices: those of loops and threads come after them.
  void keep_blocks() {
    for (std::size_t k = 0; k < kept_.size(); ++k)
      for (const Blocking& b : op_.blockings) {
        if (b.dim != kept_[k]) continue;
        if (!is_placed(b.block_dim)) break;
        keep(b.block_dim);
        blockings_.push_back(b);
      }
  }

  const Operator op_;
  const std::vector<BlockPlacement> placements_;
  std::vector<std::uint32_t> kept_;
  std::vector<Constraint> constraints_;
  std::vector<Blocking> blockings_;
};

}  // namespace

Operator transfer_of(const Operator& reader, std::uint32_t operand, const TensorType& type) {
  Operator transfer;
  transfer.name = "transfer";
  transfer.dims = reader.dims;
  transfer.constraints = reader.constraints;
  transfer.blockings = reader.blockings;
  transfer.operands = transfer.results = {type};
  for (const Access& read : reader.reads)
    if (read.tensor == operand) transfer.reads.push_back({0, read.projection});
  if (transfer.reads.empty()) {
    const AffineExpr start = AffineExpr::constant(reader.dims.size(), 0);
    transfer.reads.push_back({0, {{reader.dims.size(), std::vector(type.shape.size(), start)}, type.shape}});
  }
  transfer.writes = transfer.reads;
  transfer.body = TransferBody{};
  return transfer;
}

TransferSpace smallest_space(Operator transfer, std::vector<BlockPlacement> placements) {
  for (IndexDim& dim : transfer.dims) {  // it combines nothing
    if (dim.role == DimRole::reduction) dim.role = DimRole::parallel;
    dim.keep = false;
  }
  const bool is_on_mesh = std::ranges::all_of(placements, [](const BlockPlacement& p) {
    return p.placement == Placement::mesh_axis && p.dim != whole_operation;
  });
  if (!is_on_mesh) return {std::move(transfer), std::move(placements)};
  const NeededDims needed(transfer, placements);
  TransferSpace made = needed.space();
  const bool names_devices = placements.empty() || !made.placements.empty();
  if (!names_devices || needed.leaves_out_empty_blocks()) return {std::move(transfer), std::move(placements)};
  return made;
}

}  // namespace tap::passes
