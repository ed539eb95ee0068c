// Epilogues: maps of a group that read the results of a reduction at the point that was just completed. They are
// applied while the result is still in registers; a result without other readers is never stored.
//
//   s[i, j] = sum[k] a[i, k] * b[k, j]     y[p, q] = max(s[p, q] + c[q], 0)      becomes
//
//     for k … { acc0 = acc0 + a[i, k] * b[k, j] }
//     y[i, j] = max(f32(acc0) + c[j], 0.0)
//
// Projections decide which maps qualify: each axis that the map reads follows one of its dims, each axis that the
// reduction writes follows one of its dims, and both run on the same box.
#pragma once

#include <optional>
#include <vector>

#include "ir/graphs/demand.h"

namespace tap::backend {

struct EpilogueMap {
  std::size_t operation = 0;      // of the group's graph
  std::vector<std::size_t> dims;  // the reduction's dim for each dim of the map
  bool operator==(const EpilogueMap&) const = default;
};
// By operation of the group's graph: the maps in its epilogue, in order; empty except for reductions. A map is in at
// most one epilogue. `streamed`: operations whose points come in steps and are complete only after the last one.
std::vector<std::vector<EpilogueMap>> find_epilogues(const ir::GroupView& group, const ir::MovingDemand& windows,
                                                     const std::vector<bool>& streamed);

// By value: whether only epilogues of its own reduction read it, so that it needs no memory.
std::vector<bool> values_in_registers(const ir::GroupView& group,
                                      const std::vector<std::vector<EpilogueMap>>& epilogues);

}  // namespace tap::backend
