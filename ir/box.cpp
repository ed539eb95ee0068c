#include "ir/box.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/check.h"
#include "support/checked.h"

namespace tap::ir {

std::int64_t Range::size() const { return empty() ? 0 : checked::sub(hi, lo); }

Range intersect(Range a, Range b) {
  Range r{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
  return r.empty() ? Range{r.lo, r.lo} : r;  // one form of emptiness, so that shapes are never negative
}

Range hull(Range a, Range b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Box Box::of_shape(const Shape& shape) {
  Box box;
  box.dims.reserve(shape.size());
  for (std::int64_t n : shape) box.dims.push_back({0, n});
  return box;
}

bool Box::empty() const {
  return std::any_of(dims.begin(), dims.end(), [](Range r) { return r.empty(); });
}

std::int64_t Box::size() const {
  if (empty()) return 0;  // before multiplying: an empty box has no points, even if its other ranges are long
  std::int64_t points = 1;
  for (Range r : dims) points = checked::mul(points, r.size());
  return points;
}

bool Box::contains(const Point& p) const {
  TAP_CHECK(p.size() == rank(), "a point and a box of different ranks");
  for (std::size_t d = 0; d < rank(); ++d)
    if (!dims[d].contains(p[d])) return false;
  return true;
}

bool Box::contains(const Box& b) const {
  TAP_CHECK(b.rank() == rank(), "boxes of different ranks");
  if (b.empty()) return true;
  for (std::size_t d = 0; d < rank(); ++d)
    if (!dims[d].contains(b.dims[d])) return false;
  return true;
}

Shape Box::shape() const {
  Shape shape;
  shape.reserve(rank());
  for (Range r : dims) shape.push_back(r.size());
  return shape;
}

Box intersect(const Box& a, const Box& b) {
  TAP_CHECK(a.rank() == b.rank(), "boxes of different ranks");
  Box result;
  result.dims.reserve(a.rank());
  for (std::size_t d = 0; d < a.rank(); ++d) result.dims.push_back(intersect(a.dims[d], b.dims[d]));
  return result;
}

Box hull(const Box& a, const Box& b) {
  TAP_CHECK(a.rank() == b.rank(), "boxes of different ranks");
  if (a.empty()) return b;
  if (b.empty()) return a;
  Box result;
  result.dims.reserve(a.rank());
  for (std::size_t d = 0; d < a.rank(); ++d) result.dims.push_back(hull(a.dims[d], b.dims[d]));
  return result;
}

bool disjoint(const Box& a, const Box& b) { return intersect(a, b).empty(); }

std::string to_string(Range range) { return fmt::format("{}..{}", range.lo, range.hi); }

std::string to_string(const Box& box) {
  std::string text = "[";
  for (std::size_t d = 0; d < box.rank(); ++d) text += (d ? ", " : "") + to_string(box.dims[d]);
  return text + "]";
}

std::vector<Box> subtract(const Box& a, const Box& b) {
  Box common = intersect(a, b);
  if (a.empty()) return {};
  if (common.empty()) return {a};
  std::vector<Box> result;
  Box rest = a;  // agrees with `common` on the earlier dims
  for (std::size_t d = 0; d < a.rank(); ++d) {
    for (Range side : {Range{rest.dims[d].lo, common.dims[d].lo}, Range{common.dims[d].hi, rest.dims[d].hi}}) {
      if (side.empty()) continue;
      Box part = rest;
      part.dims[d] = side;
      result.push_back(std::move(part));
    }
    rest.dims[d] = common.dims[d];
  }
  return result;
}

std::optional<Point> first_point(const Box& box) {
  if (box.empty()) return std::nullopt;
  Point p;
  p.reserve(box.rank());
  for (Range r : box.dims) p.push_back(r.lo);
  return p;
}

bool next_point(const Box& box, Point& p) {
  for (std::size_t d = box.rank(); d-- > 0;) {
    if (++p[d] < box.dims[d].hi) return true;
    p[d] = box.dims[d].lo;
  }
  return false;
}

}  // namespace tap::ir
