// Whether blocks may go over an axis of a mesh: that there is this axis, that it has a place for each block and is free.
#pragma once

#include "ir/graphs/operation_names.h"
#include "passes/pass.h"

namespace tap::passes {

// Why the split, which is for a mesh axis, cannot be; its decision is left 0.
std::optional<PlanProblem> why_not_over_axis(const ir::Program& program, ir::OperationInGraph place,
                                             const ir::PlannedSplit& split);

}  // namespace tap::passes
