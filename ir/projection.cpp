#include "ir/projection.h"

#include "support/check.h"
#include "support/checked.h"

namespace tap::ir {

Box Projection::image(const Point& p) const {
  TAP_CHECK(start.rows.size() == rank(), "a projection whose start and shape have different ranks");
  Box box;
  box.dims.reserve(rank());
  for (std::size_t axis = 0; axis < rank(); ++axis) {
    std::int64_t lo = start.rows[axis](p);
    box.dims.push_back({lo, checked::add(lo, shape[axis])});
  }
  return box;
}

// Per axis, the tight range of the starts, extended by the region's extent minus 1.
Box Projection::bounds(const Box& points) const {
  TAP_CHECK(start.rows.size() == rank(), "a projection whose start and shape have different ranks");
  if (points.empty()) return Box::of_shape(Shape(rank(), 0));
  Box box;
  box.dims.reserve(rank());
  for (std::size_t axis = 0; axis < rank(); ++axis) {
    Range starts = start.rows[axis].bounds(points);
    if (shape[axis] <= 0) return Box::of_shape(Shape(rank(), 0));  // every region is empty
    box.dims.push_back({starts.lo, checked::add(starts.hi - 1, shape[axis])});
  }
  return box;
}

std::string to_string(const Projection& p, const std::vector<std::string>& names) {
  std::string text = "ZRange(start: [";
  for (std::size_t axis = 0; axis < p.rank(); ++axis) {
    if (axis) text += ", ";
    text += to_string(p.start.rows[axis], names);
  }
  text += "], shape: [";
  for (std::size_t axis = 0; axis < p.rank(); ++axis) {
    if (axis) text += ", ";
    text += std::to_string(p.shape[axis]);
  }
  return text + "])";
}

}  // namespace tap::ir
