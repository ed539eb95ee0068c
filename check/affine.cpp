#include "check/affine.h"

#include <algorithm>

#include "support/checked.h"

namespace tap::check {

AffineExpr substituted(const AffineExpr& e, const std::vector<AffineExpr>& dims, std::size_t over) {
  AffineExpr result = number(over, e.offset);
  for (std::size_t d = 0; d < e.coefficients.size(); ++d)
    if (e.coefficients[d] != 0) result = result + scale(dims[d], e.coefficients[d]);
  return result;
}

namespace {

// The value at one corner of the box: the first index if the coefficient has the given sign, else the last one.
std::int64_t at_corner(const AffineExpr& e, const Box& box, bool first_where_positive) {
  std::int64_t value = e.offset;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    std::int64_t c = e.coefficients[d];
    bool first = (c > 0) == first_where_positive;
    if (c != 0) value = checked::add(value, checked::mul(c, first ? box.dims[d].lo : checked::sub(box.dims[d].hi, 1)));
  }
  return value;
}

}  // namespace

std::int64_t least(const AffineExpr& e, const Box& box) { return at_corner(e, box, true); }
std::int64_t greatest(const AffineExpr& e, const Box& box) { return at_corner(e, box, false); }

std::int64_t edge(const ir::Blocks& blocks, ir::Range range, std::int64_t r) {
  if (!blocks.boundaries.empty()) return blocks.boundaries[static_cast<std::size_t>(r)];
  std::int64_t size = std::max<std::int64_t>(0, checked::sub(range.hi, range.lo));
  std::int64_t step = size / blocks.count + (size % blocks.count != 0);
  return range.lo + (step != 0 && r >= size / step + 1 ? size : std::min(size, step * r));
}

Box box_of(const ir::Operator& op) {
  Box box;
  for (const ir::IndexDim& dim : op.dims) box.dims.push_back(dim.range);
  return box;
}

bool never_negative(const AffineExpr& e, const Space& space) {
  if (space.box.empty() || least(e, space.box) >= 0) return true;
  return std::any_of(space.constraints.begin(), space.constraints.end(), [&](const ir::Constraint& c) {
    bool both_ways = c.comparison == ir::Comparison::equal_zero;
    return least(e - c.expr, space.box) >= 0 || (both_ways && least(e + c.expr, space.box) >= 0);
  });
}

bool moves_evenly(const std::vector<AffineExpr>& rows, const std::vector<std::int64_t>& steps) {
  std::vector<std::optional<std::int64_t>> moves;
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    const std::vector<std::int64_t>& c = rows[axis].coefficients;
    moves.resize(c.size());
    if (steps[axis] != 0 && std::ranges::count(c, 0) + 1 != std::ssize(c)) return false;
    for (std::size_t d = 0; d < c.size(); ++d) {
      if (c[d] == 0) continue;
      const std::int64_t move = steps[axis] / c[d];
      if (steps[axis] % c[d] != 0 || moves[d].value_or(move) != move) return false;
      moves[d] = move;
    }
  }
  return true;
}

}  // namespace tap::check
