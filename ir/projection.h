// Projections: where an index point reads or writes in a tensor,  P(i) = ZRange(start: A·i + B, shape: S).
#pragma once

#include "ir/affine.h"

namespace tap::ir {

struct Projection {
  AffineMap start;  // one row per tensor axis
  Shape shape;      // constant extents of the region; all 1 for an access to one cell

  std::size_t rank() const { return shape.size(); }
  Box image(const Point& p) const;   // the exact region of one index point
  Box bounds(const Box& box) const;  // the tight box around the regions of all points of `box`; empty if `box` is
                                     // (except in a 0-d tensor, whose only box is its one point)
  bool operator==(const Projection&) const = default;
};

std::string to_string(const Projection& p,
                      const std::vector<std::string>& names);  // ZRange(start: [i, 0], shape: [1, 4])

}  // namespace tap::ir
