#include "backend/lower/repeated_rows.h"

#include <algorithm>

#include "backend/lower/patterns.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr std::int64_t cells_at_once = 256;  // at least, in a long row

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

  std::optional<std::vector<std::uint32_t>> repeated_reads() const {
    for (std::size_t c = 0; c < op_.exprs.size(); ++c)
      if (const CellNode& node = op_.exprs[CellId(c)];
          node.op == CellOp::index && (node.attribute == lanes_ || node.attribute == rows_))
        return {};
    for (const Access& write : op_.writes)
      if (!is_row_after_row(write, op_.results[write.tensor]) || !write.invariant_dims.empty()) return {};
    std::vector<std::uint32_t> reads;
    std::vector<bool> in_rows(op_.operands.size()), otherwise(op_.operands.size());
    for (std::uint32_t r = 0; r < op_.reads.size(); ++r) {
      const Access& read = op_.reads[r];
      if (may_be_outside(op_, read)) return {};
      if (uses(read, rows_)) {
        if (!is_row_after_row(read, op_.operands[read.tensor])) return {};
        in_rows[read.tensor] = true;
        continue;
      }
      otherwise[read.tensor] = true;
      if (!uses(read, lanes_)) continue;
      if (!is_contiguous_along(read.projection.start.rows, lanes_)) return {};
      reads.push_back(r);
    }
    for (std::size_t k = 0; k < in_rows.size(); ++k)
      if (in_rows[k] && otherwise[k]) return {};
    return reads.empty() ? std::nullopt : std::optional(std::move(reads));
  }

 private:
  // The lanes' dim is the whole last axis, and the rows' dim runs along the one before.
  bool is_row_after_row(const Access& access, const TensorType& type) const {
    const auto& rows = access.projection.start.rows;
    return rows.size() > 1 && type.shape.back() == length_ && is_one_dim(rows.back(), lanes_) &&
           rows.back().offset == 0 && is_one_dim(rows[rows.size() - 2], rows_);
  }

  const Operator& op_;
  const std::size_t lanes_, rows_;
  const std::int64_t length_;
};

}  // namespace

std::optional<RepeatedRows> choose_repeated_rows(const Operator& op, const RegisterTile& tile, const Extents& extents) {
  const IndexDim& lanes = op.dims[tile.dim];
  const std::int64_t length = lanes.range.size();
  if (!op.map() || tile.rows || tile.lanes < 2 || lanes.range.lo != 0 || is_constrained(op, tile.dim)) return {};
  if (!extents.exact[tile.dim] || extents.sizes[tile.dim] != length || !is_narrow(length, tile.lanes)) return {};
  const std::int64_t step = tile.lanes, count = (cells_at_once + length * step - 1) / (length * step) * step;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (d == tile.dim || op.dims[d].role != DimRole::parallel || is_constrained(op, d)) continue;
    if (extents.sizes[d] < 4 * count) continue;
    if (auto reads = RowsInOrder(op, tile.dim, d, length).repeated_reads())
      return RepeatedRows{d, count, std::move(*reads)};
  }
  return {};
}

}  // namespace tap::backend
