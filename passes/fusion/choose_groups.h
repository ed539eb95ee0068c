// Chooses groups so that as few bytes as possible leave them: a value whose writers and readers are all in one group
// needs no full buffer. A group must be legal (group.h) and small at each point: the data that a point keeps and
// reads must fit the caches near its core.
//
// The search visits the values by size and tries, for each, to put its writers and readers into one group, or not; it
// keeps the best few groupings. The cost of a grouping follows from its groups alone, so it needs no machine model.
#pragma once

#include "ir/machine.h"
#include "passes/fusion/group.h"

namespace tap::passes {

struct FusionLimits {
  double inner_bytes = ir::reference_machine.l2_bytes / 4;      // of the inner values that one point keeps
  double operand_bytes = 2.0 * ir::reference_machine.l2_bytes;  // that one point reads
  RecomputeLimit recompute = {};
  std::size_t groupings = 24;  // how many the search keeps; fewer in long graphs
};

// The bytes that a set of operations writes for others, and the same plus the bytes that it reads from others.
struct Crossing {
  double escaping = 0;
  double crossing = 0;
  auto operator<=>(const Crossing&) const = default;
  Crossing& operator+=(const Crossing& other) {
    escaping += other.escaping;
    crossing += other.crossing;
    return *this;
  }
  Crossing& operator-=(const Crossing& other) {
    escaping -= other.escaping;
    crossing -= other.crossing;
    return *this;
  }
};
Crossing crossing_of(const GroupMaker& maker, const std::vector<ir::OperationId>& operations);

// The group of these operations, if it is legal and within the limits.
std::optional<MadeGroup> group_within(const GroupMaker& maker, const std::vector<ir::OperationId>& operations,
                                      const FusionLimits& limits);

// Disjoint sets of two or more operations, each in order, which do not depend on each other in a cycle.
std::vector<std::vector<ir::OperationId>> choose_groups(const GroupMaker& maker, const FusionLimits& limits);

}  // namespace tap::passes
