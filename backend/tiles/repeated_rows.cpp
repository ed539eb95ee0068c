#include "backend/tiles/repeated_rows.h"

#include <algorithm>
#include <cmath>

#include "backend/tiles/patterns.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr std::int64_t cells_at_once = 256;  // at least, in a long row
constexpr std::int64_t few_uses = 4;         // of cells that are spread along their rows; fewer do not pay

// Whether lanes along rows of this length would be idle often enough.
bool is_narrow(std::int64_t length, std::int64_t lanes) {
  const std::int64_t processed = (length + lanes - 1) / lanes * lanes;
  return length < 4 * lanes && 7 * processed >= 8 * length;
}

bool is_one_dim(const AffineExpr& row, std::size_t dim) {
  for (std::size_t d = 0; d < row.coefficients.size(); ++d)
    if (row.coefficients[d] != (d == dim ? 1 : 0)) return false;
  return true;
}

class RowsInOrder {
 public:
  RowsInOrder(const Operator& op, std::size_t lanes, std::size_t rows, std::int64_t length)
      : op_(op), lanes_(lanes), rows_(rows), length_(length) {}

  // False: some access keeps the rows apart.
  bool find(RepeatedRows& found) const {
    for (std::size_t c = 0; c < op_.exprs.size(); ++c)
      if (const CellNode& node = op_.exprs[CellId(c)];
          node.op == CellOp::index && (node.attribute == lanes_ || node.attribute == rows_))
        return false;
    for (const Access& write : op_.writes)
      if (!is_row_after_row(write, op_.results[write.tensor]) || !write.invariant_dims.empty()) return false;
    std::vector<bool> in_rows(op_.operands.size()), otherwise(op_.operands.size());
    for (std::uint32_t r = 0; r < op_.reads.size(); ++r) {
      const Access& read = op_.reads[r];
      if (may_be_outside(op_, read)) return false;
      if (uses(read, rows_)) {
        const bool is_spread = is_cell_of_row(read);
        if (!is_spread && !is_row_after_row(read, op_.operands[read.tensor])) return false;
        (is_spread ? otherwise : in_rows)[read.tensor] = true;
        if (is_spread) found.spread.push_back(r);
        continue;
      }
      otherwise[read.tensor] = true;
      if (!uses(read, lanes_)) continue;
      if (!is_contiguous_along(read.projection.start.rows, lanes_)) return false;
      found.reads.push_back(r);
    }
    for (std::size_t k = 0; k < in_rows.size(); ++k)
      if (in_rows[k] && otherwise[k]) return false;
    return !found.reads.empty() || !found.spread.empty();
  }

 private:
  // The lanes' dim is the whole last axis, and the rows' dim runs along the one before.
  bool is_row_after_row(const Access& access, const TensorType& type) const {
    const auto& rows = access.projection.start.rows;
    return rows.size() > 1 && type.shape.back() == length_ && is_one_dim(rows.back(), lanes_) &&
           rows.back().offset == 0 && is_one_dim(rows[axis_of_rows(type.shape)], rows_);
  }
  // No dim but the rows' affects it.
  bool is_cell_of_row(const Access& read) const {
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (d != rows_ && uses(read, d)) return false;
    return true;
  }

  const Operator& op_;
  const std::size_t lanes_, rows_;
  const std::int64_t length_;
};

// Whether vectors over several rows take clearly fewer loads and stores than those of each row, with its operands and its last mask. Of
// images on Zen 5: near data of 33 cells in a row take 0.64 of the time, of 49 cells 1.07; far data of 9 cells 0.62, of 33 cells 1.16.
bool saves_enough(const Operator& op, const RepeatedRows& rows, const RegisterTile& tile, const Extents& extents,
                  const Machine& machine) {
  constexpr double around_row = 4, enough = 1.25, enough_if_far = 2;
  double bytes = 0;
  for (const TensorType& type : op.operands)
    bytes += static_cast<double>(element_count(type.shape)) * static_cast<double>(size_of(type.element));
  for (const TensorType& type : op.results)
    bytes += static_cast<double>(element_count(type.shape)) * static_cast<double>(size_of(type.element));
  const auto spread = static_cast<double>(rows.spread.size());
  const auto accesses = static_cast<double>(op.reads.size() + op.writes.size());
  const double vectors = static_cast<double>(extents.sizes[tile.dim]) / tile.lanes;
  const double each_row = std::ceil(vectors) * (accesses - spread) + spread + around_row;
  return each_row >= vectors * accesses * (bytes > static_cast<double>(machine.l2_bytes) ? enough_if_far : enough);
}

// Whether the copies of some rows, of whatever is repeated, are used often enough.
bool spreading_pays(const Operator& op, const Extents& extents, const RepeatedRows& rows, std::size_t lanes) {
  std::int64_t uses_of_copy = 1;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (d == lanes || d == rows.dim) continue;
    if (std::ranges::any_of(rows.reads, [&](std::uint32_t read) { return uses(op.reads[read], d); })) return false;
    uses_of_copy = std::min(few_uses, uses_of_copy * std::min(few_uses, extents.sizes[d]));
  }
  return extents.sizes[rows.dim] >= rows.count && uses_of_copy >= few_uses;
}

}  // namespace

std::size_t axis_of_rows(const Shape& shape) {
  std::size_t axis = shape.size() - 2;
  while (axis > 0 && shape[axis] == 1) --axis;
  return axis;
}

std::optional<RepeatedRows> choose_repeated_rows(const Operator& op, const RegisterTile& tile, const Extents& extents,
                                                 const Machine& machine) {
  const IndexDim& lanes = op.dims[tile.dim];
  const std::int64_t length = lanes.range.size();
  if (!op.map() || tile.rows || tile.lanes < 2 || lanes.range.lo != 0 || is_constrained(op, tile.dim)) return {};
  if (!extents.exact[tile.dim] || extents.sizes[tile.dim] != length || !is_narrow(length, tile.lanes)) return {};
  const std::int64_t step = tile.lanes, count = (cells_at_once + length * step - 1) / (length * step) * step;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (d == tile.dim || op.dims[d].role != DimRole::parallel || is_constrained(op, d)) continue;
    RepeatedRows found{d, count, {}, {}};
    if (!RowsInOrder(op, tile.dim, d, length).find(found)) continue;
    if (found.spread.empty()
            ? extents.sizes[d] >= 4 * count
            : spreading_pays(op, extents, found, tile.dim) && saves_enough(op, found, tile, extents, machine))
      return found;
  }
  return {};
}

}  // namespace tap::backend
