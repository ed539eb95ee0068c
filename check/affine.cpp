#include "check/affine.h"

#include <algorithm>

#include "support/checked.h"

namespace tap::check {

AffineExpr number(std::size_t dims, std::int64_t value) { return {std::vector<std::int64_t>(dims, 0), value}; }
AffineExpr unit(std::size_t dims, std::size_t dim) {
  AffineExpr e = number(dims, 0);
  e.coefficients[dim] = 1;
  return e;
}
AffineExpr plus(AffineExpr a, const AffineExpr& b) {
  for (std::size_t d = 0; d < a.coefficients.size(); ++d)
    a.coefficients[d] = checked::add(a.coefficients[d], b.coefficients[d]);
  a.offset = checked::add(a.offset, b.offset);
  return a;
}
AffineExpr times(AffineExpr a, std::int64_t factor) {
  for (std::int64_t& c : a.coefficients) c = checked::mul(c, factor);
  a.offset = checked::mul(a.offset, factor);
  return a;
}
bool speaks_of(const AffineExpr& e, std::size_t dim) { return e.coefficients[dim] != 0; }
bool is_number(const AffineExpr& e) {
  return std::ranges::all_of(e.coefficients, [](std::int64_t c) { return c == 0; });
}

AffineExpr substituted(const AffineExpr& e, const std::vector<AffineExpr>& dims, std::size_t over) {
  AffineExpr result = number(over, e.offset);
  for (std::size_t d = 0; d < e.coefficients.size(); ++d)
    if (e.coefficients[d] != 0) result = plus(std::move(result), times(dims[d], e.coefficients[d]));
  return result;
}

bool no_points(const Ranges& box) {
  return std::ranges::any_of(box, [](ir::Range r) { return r.hi <= r.lo; });
}
namespace {

// The value at one corner of the box: that of the first indices where the coefficient's sign is as told, else of the last.
std::int64_t at_corner(const AffineExpr& e, const Ranges& box, bool first_where_positive) {
  std::int64_t value = e.offset;
  for (std::size_t d = 0; d < box.size(); ++d) {
    std::int64_t c = e.coefficients[d];
    bool first = (c > 0) == first_where_positive;
    if (c != 0) value = checked::add(value, checked::mul(c, first ? box[d].lo : checked::sub(box[d].hi, 1)));
  }
  return value;
}

}  // namespace

std::int64_t least(const AffineExpr& e, const Ranges& box) { return at_corner(e, box, true); }
std::int64_t greatest(const AffineExpr& e, const Ranges& box) { return at_corner(e, box, false); }

std::int64_t edge(const ir::Blocks& blocks, ir::Range range, std::int64_t r) {
  if (!blocks.boundaries.empty()) return blocks.boundaries[static_cast<std::size_t>(r)];
  std::int64_t size = std::max<std::int64_t>(0, checked::sub(range.hi, range.lo));
  std::int64_t step = size / blocks.count + (size % blocks.count != 0);
  return range.lo + (step != 0 && r >= size / step + 1 ? size : std::min(size, step * r));
}

Space space_of(const ir::Operator& op) {
  Space space{{}, op.constraints};
  for (const ir::IndexDim& dim : op.dims) space.box.push_back(dim.range);
  return space;
}

bool never_negative(const AffineExpr& e, const Space& space) {
  if (no_points(space.box) || least(e, space.box) >= 0) return true;
  return std::any_of(space.constraints.begin(), space.constraints.end(), [&](const ir::Constraint& c) {
    bool both_ways = c.comparison == ir::Comparison::equal_zero;
    return least(minus(e, c.expr), space.box) >= 0 || (both_ways && least(plus(e, c.expr), space.box) >= 0);
  });
}

}  // namespace tap::check
