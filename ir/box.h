// Boxes: half-open integer ranges, one per dim, with any origin; the ZRange of the Tapestry text.
//
//   Box b{{{0, 4}, {2, 5}}};   b.size() == 12   b.contains({3, 2})
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/tensor.h"

namespace tap::ir {

using Point = std::vector<std::int64_t>;

struct Range {
  std::int64_t lo = 0;
  std::int64_t hi = 0;

  bool empty() const { return hi <= lo; }
  std::int64_t size() const;  // 0 if empty; throws Overflow
  bool contains(std::int64_t x) const { return lo <= x && x < hi; }
  bool contains(Range r) const { return r.empty() || (lo <= r.lo && r.hi <= hi); }
  bool operator==(const Range&) const = default;
};
Range intersect(Range a, Range b);
Range hull(Range a, Range b);  // an empty operand does not count

struct Box {
  std::vector<Range> dims;

  static Box of_shape(const Shape& shape);  // [0, n) per dim
  std::size_t rank() const { return dims.size(); }
  bool empty() const;         // some range is empty; a box of rank 0 has one point and is not
  std::int64_t size() const;  // number of points; throws Overflow
  bool contains(const Point& p) const;
  bool contains(const Box& b) const;
  Shape shape() const;
  bool operator==(const Box&) const = default;
};
Box intersect(const Box& a, const Box& b);
Box hull(const Box& a, const Box& b);
bool disjoint(const Box& a, const Box& b);
std::vector<Box> subtract(const Box& a, const Box& b);  // disjoint boxes whose union is `a` without `b`

std::string to_string(Range range);     // 0..4
std::string to_string(const Box& box);  // [0..4, 2..5]

// Steps `p` to the next point of the box in row-major order; false at the end. Start with first_point.
std::optional<Point> first_point(const Box& box);
bool next_point(const Box& box, Point& p);

}  // namespace tap::ir
