// What the readers of a group's inner values need of them, if constraints restrict it to less than the regions of
// ir::moving_demand, whose extents are constant.
//
//   t[i, j] = ...     m[i] = max[j in 0..i+1] t[i, j]     over i:   of t at i only j < i + 1 is needed
#pragma once

#include <optional>
#include <vector>

#include "ir/graphs/demand.h"

namespace tap::backend {

// lo(p) <= x < hi(p), for a point p of the group's parallel dims.
struct NeededRange {
  std::optional<ir::AffineExpr> lo, hi;
  bool operator==(const NeededRange&) const = default;
};

// By operation of the inner graph, by its dim. Points outside are read by no other operation and are not results of the group.
std::vector<std::vector<NeededRange>> needed_ranges(const ir::GroupView& group, const ir::MovingDemand& windows);

}  // namespace tap::backend
