// The cost of a group, from its windows alone: the bytes live at each point, the bytes read and written, and how
// often its operations are recomputed.
#pragma once

#include "ir/graphs/demand.h"

namespace tap::passes {

struct GroupFacts {
  double inner_bytes = 0;         // of the regions, per point, of values that are only inside
  double operand_bytes = 0;       // of the regions that a point reads
  double escaping_bytes = 0;      // of whole results
  double crossing_bytes = 0;      // of whole results and whole operands
  std::vector<double> recompute;  // by operation inside: how often each of its points is computed, on average
};

// If the group runs in blocks of that many points per dim.
inline constexpr std::int64_t nominal_block = 64;

GroupFacts group_facts(const ir::GroupView& group, const ir::MovingDemand& windows);

struct RecomputeLimit {
  double factor = 1.25;           // of what is cheap; all else is computed once
  std::int64_t cheap_terms = 32;  // terms of one cell
};
// The dim of the group for which some operation inside is computed more often than that, the worst one.
std::optional<std::uint32_t> repeating_dim(const ir::GroupView& group, const ir::MovingDemand& windows,
                                           const RecomputeLimit& limit);

}  // namespace tap::passes
