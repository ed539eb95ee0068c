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
  std::vector<std::size_t> dims;  // of the reduction, by the map's dim
  bool operator==(const EpilogueMap&) const = default;
};
// By operation of the group's graph, the maps at its end, in their order: empty but for reductions. A map is at the end of one
// reduction at most. `streamed`: operations whose points come in steps, which are not complete before the last one.
std::vector<std::vector<EpilogueMap>> find_epilogues(const ir::GroupView& group, const ir::MovingDemand& windows,
                                                     const std::vector<bool>& streamed);

// By value, whether who reads it does so at the end of its reduction only: it needs no memory.
std::vector<bool> values_in_registers(const ir::GroupView& group,
                                      const std::vector<std::vector<EpilogueMap>>& epilogues);

}  // namespace tap::backend
