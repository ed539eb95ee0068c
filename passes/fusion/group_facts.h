// The cost of a group, from its windows alone: the bytes live at each point, the bytes read and written, and how
// often its operations are recomputed.
#pragma once

#include "ir/graphs/demand.h"

namespace tap::passes {

struct GroupFacts {
  double inner_bytes = 0;         // of the regions of inner values, per point
  double operand_bytes = 0;       // of the regions that one point reads
  double escaping_bytes = 0;      // of all results
  double crossing_bytes = 0;      // of all results and operands
  std::vector<double> recompute;  // by operation inside: how often each of its points is computed, on average
};

// For a group that runs in blocks of this many points per dim.
inline constexpr std::int64_t nominal_block = 64;

GroupFacts group_facts(const ir::GroupView& group, const ir::MovingDemand& windows);

struct RecomputeLimit {
  double factor = 1.25;           // for cheap operations; all others are computed once
  std::int64_t cheap_terms = 32;  // terms of one cell
};
// The dim of the group that exceeds this limit the most: some inner operation is recomputed more often because of it.
std::optional<std::uint32_t> repeating_dim(const ir::GroupView& group, const ir::MovingDemand& windows,
                                           const RecomputeLimit& limit);

}  // namespace tap::passes
