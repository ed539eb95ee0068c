// The points that write into a box of cells: a memory that was written by all of them holds all of its cells,
// whatever gaps the individual writers leave.
//
//   Y[i, j] = C[i, j] where j <= i, into rows 2..4 of Y: the points i in 2..4, j in 0..4
#include "replay/execution.h"

namespace tap::check {

namespace {

// The conditions on a point: each of these is at least 0.
std::vector<AffineExpr> conditions(const ir::Operator& op, const ir::Access& write, const Box& cells) {
  const std::size_t dims = op.dims.size();
  std::vector<AffineExpr> all;
  for (std::size_t axis = 0; axis < cells.rank(); ++axis) {
    const AffineExpr& row = write.projection.start.rows[axis];
    const std::int64_t least_start = checked::sub(cells.dims[axis].lo, write.projection.shape[axis] - 1);
    all.push_back(row - number(dims, least_start));
    all.push_back(number(dims, cells.dims[axis].hi - 1) - row);
  }
  for (const ir::Constraint& c : op.constraints) {
    if (!restricts_cells(op, c)) continue;
    all.push_back(c.expr);
    if (c.comparison == ir::Comparison::equal_zero) all.push_back(scale(c.expr, -1));
  }
  return all;
}

// The values of dim d for which e can be at least 0 somewhere in the nonempty box.
ir::Range bounded(const AffineExpr& e, const Box& box, std::size_t d) {
  const std::int64_t c = e.coefficients[d];
  AffineExpr rest = e;
  rest.coefficients[d] = 0;
  const std::int64_t most = greatest(rest, box);
  ir::Range range = box.dims[d];
  if (c > 0) range.lo = std::max(range.lo, checked::sub(0, checked::floor_div(most, c)));
  if (c < 0) range.hi = std::min(range.hi, checked::add(checked::floor_div(most, checked::sub(0, c)), 1));
  return range;
}

}  // namespace

// Each round uses the bounds of the previous one; a few suffice, and any number is sound.
Box preimage_of_write(const ir::Operator& op, const ir::Access& write, const Box& cells) {
  constexpr int rounds = 4;
  Box points = one_of_each_reduced(op, box_of(op));
  if (cells.empty()) points.dims.assign(points.rank(), {0, 0});
  const std::vector<AffineExpr> all = cells.empty() ? std::vector<AffineExpr>{} : conditions(op, write, cells);
  for (int round = 0; round < rounds; ++round)
    for (const AffineExpr& e : all)
      for (std::size_t d = 0; d < points.rank() && !points.empty(); ++d)
        if (uses_dim(e, d)) points.dims[d] = bounded(e, points, d);
  return points;
}

}  // namespace tap::check
