#include "backend/tiles/packable.h"

#include <algorithm>

#include "backend/tiles/cache_sets.h"
#include "backend/tiles/patterns.h"
#include "ir/machine.h"

namespace tap::backend {

using namespace ir;

namespace {

// Whether a constraint relates it to another dim.
bool is_tied(const Operator& op, std::size_t dim) {
  return std::any_of(op.constraints.begin(), op.constraints.end(), [&](const Constraint& c) {
    std::size_t dims = 0;
    for (std::int64_t coefficient : c.expr.coefficients) dims += coefficient != 0;
    return c.expr.coefficients[dim] != 0 && dims > 1;
  });
}

// Neither the coordinates are data-dependent, nor does the fill depend on the point.
bool is_plain(const Operator& op, const Access& access) {
  for (const auto& c : access.coordinates)
    if (c) return false;
  return !access.fill || op.exprs[*access.fill].op == CellOp::constant;
}

}  // namespace

// Each axis is indexed by at most one dim, so every cell is copied once; and neither bounds nor fills depend on
// anything else.
bool can_be_packed(const Operator& op, const Access& access, const Extents& extents) {
  if (!is_plain(op, access)) return false;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::reduction && uses(access, d) && is_tied(op, d)) return false;
  for (const AffineExpr& row : access.projection.start.rows) {
    std::size_t followed = 0;
    for (std::size_t d = 0; d < op.dims.size(); ++d) followed += row.coefficients[d] != 0 && extents.sizes[d] > 1;
    if (followed > 1) return false;
  }
  return true;
}

// Several dims share an axis, or some cells are out of bounds: each cell of the box is copied once and read several
// times, and the copy needs no bounds checks, since every cell is in the tensor or filled in.
bool can_be_window(const Operator& op, const Access& access, const Extents& extents) {
  if (!is_plain(op, access)) return false;
  bool shared = access.fill && may_be_outside(op, access);
  for (std::size_t axis = 0; axis < access.projection.start.rows.size(); ++axis) {
    const AffineExpr& row = access.projection.start.rows[axis];
    std::size_t followed = 0;
    for (std::size_t d = 0; d < op.dims.size(); ++d) followed += row.coefficients[d] != 0 && extents.sizes[d] > 1;
    shared = shared || followed > 1;
    const Range all{0, op.operands[access.tensor].shape[axis]};
    if (!access.fill && !all.contains(row.bounds(op.box()))) return false;
  }
  return shared;
}

std::optional<std::size_t> transposed_along(const Operator& op, const Access& access, std::size_t lanes,
                                            std::size_t rows, const Extents& extents) {
  constexpr std::int64_t fewest = 8;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (d == lanes || d == rows || extents.sizes[d] < fewest || !is_contiguous_along(access.projection.start.rows, d))
      continue;
    if (op.dims[d].role == DimRole::reduction) return d;
    if (fits_at_once(op, access, d, lanes, extents)) return d;
  }
  return {};
}

double uses_of_packed(const Operator& op, const Access& access, const RegisterTile& tile, const Extents& extents) {
  double result = static_cast<double>(extents.sizes[*tile.rows]) / tile.row_count;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (d != tile.dim && d != *tile.rows && op.dims[d].role == DimRole::parallel && !uses(access, d))
      result *= static_cast<double>(extents.sizes[d]);
  return result;
}

bool crosses_lines(const Operator& op, const Access& access, std::size_t dim) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (d != dim && distance_along(op, access, d) % reference_machine.line_bytes != 0) return true;
  return false;
}

std::optional<double> uses_of_lane_copy(const Operator& op, const Access& access, std::size_t lanes,
                                        const Extents& extents) {
  constexpr double fewest_uses = 4, most_bytes = reference_machine.l1_bytes;
  const auto& rows = access.projection.start.rows;
  if (!uses(access, lanes) || !can_be_packed(op, access, extents)) return {};
  if (is_contiguous_along(rows, lanes) && !crosses_lines(op, access, lanes)) return {};
  double bytes = static_cast<double>(size_of(op.operands[access.tensor].element)), uses_of_it = 1;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    const auto points = static_cast<double>(extents.most(op, d));
    if (uses(access, d)) bytes *= points;
    else if (op.dims[d].role == DimRole::parallel) uses_of_it *= static_cast<double>(extents.sizes[d]);
    if (uses(access, d) && is_tied(op, d)) return {};
  }
  if (bytes > most_bytes || uses_of_it < fewest_uses) return {};
  return uses_of_it;
}

bool fits_at_once(const Operator& op, const Access& access, std::size_t dim, std::size_t lanes,
                  const Extents& extents) {
  constexpr double most_bytes = reference_machine.l3_bytes / 4;
  double bytes = static_cast<double>(size_of(op.operands[access.tensor].element));
  for (std::size_t other = 0; other < op.dims.size(); ++other)
    if (other == dim || other == lanes || (op.dims[other].role == DimRole::reduction && uses(access, other)))
      bytes *= static_cast<double>(extents.most(op, other));
  return op.dims[dim].role == DimRole::parallel && !is_constrained(op, dim) && bytes <= most_bytes;
}

}  // namespace tap::backend
