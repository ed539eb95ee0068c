// Legality of the source program: every read is in bounds or has a fill, and every cell of every value is written
// exactly once. An illegal program is refused with a cell as witness; what the closed forms here cannot decide is
// reported as assumed.
#pragma once

#include "check/affine.h"
#include "check/verdict.h"

namespace tap::check {

// Whether the space is shown to be empty, by eliminating one dim after another. Incomplete: false may mean unknown.
bool has_no_point(const Space& space);

// Visits the points of a box, one by one, if there are not too many.
template <class Visit>
bool each_point(const Box& box, std::int64_t most, Visit visit);

// Refuses a read out of bounds. Returns whether all are shown to be in bounds.
bool reads_are_inside(const ir::Operator& op);

// One of the writes of a value, and its operator.
struct OneWrite {
  const ir::Operator* op = nullptr;
  const ir::Access* by = nullptr;
};
// Refuses a cell that is written twice, out of bounds or never. Returns whether each is shown to be written once.
bool is_written_once(const Shape& shape, const std::vector<OneWrite>& writes);

template <class Visit>
bool each_point(const Box& box, std::int64_t most, Visit visit) {
  std::int64_t points = 1;
  std::vector<std::int64_t> at;
  for (const ir::Range& range : box.dims) {
    const std::int64_t size = checked::sub(range.hi, range.lo);
    if (size <= 0) return true;
    if (size > most / points) return false;
    points *= size;
    at.push_back(range.lo);
  }
  for (std::int64_t n = 0; n < points; ++n) {
    visit(at);
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < box.dims[d].hi) break;
      at[d] = box.dims[d].lo;
    }
  }
  return true;
}
inline std::int64_t value_at(const AffineExpr& e, const std::vector<std::int64_t>& point) {
  std::int64_t value = e.offset;
  for (std::size_t d = 0; d < point.size(); ++d)
    if (e.coefficients[d] != 0) value = checked::add(value, checked::mul(e.coefficients[d], point[d]));
  return value;
}
inline bool holds_at(const ir::Constraint& c, const std::vector<std::int64_t>& point) {
  const std::int64_t value = value_at(c.expr, point);
  return c.comparison == ir::Comparison::equal_zero ? value == 0 : value >= 0;
}

}  // namespace tap::check
