// Long reductions to few results, in blocks that threads can share.
//
//   s[] = sum[i] x[i]  over 2^26 cells     split s dim i into 64 over threads
//
// The blocks of a reduction decide how its results are rounded, so their number depends only on sizes, not on the threads or
// the machine.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/plan.h"
#include "passes/caution.h"

namespace tap::cost {

// For one graph; `path` is its path in a plan. Operations in `fixed` stay as they are.
std::vector<ir::PlannedSplit> reduction_blocks(const ir::Program& program, ir::GraphId graph, const std::string& path,
                                               const std::set<ir::OperationId>& fixed, const passes::Caution& caution);

}  // namespace tap::cost
