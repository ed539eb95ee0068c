// Whether blocks may be placed on an axis of a mesh: the axis exists, has a position for each block, and is free.
#pragma once

#include "ir/graphs/operation_names.h"
#include "passes/pass.h"

namespace tap::passes {

// Why the split, which is for a mesh axis, cannot be; its decision is left 0.
std::optional<PlanProblem> why_not_over_axis(const ir::Program& program, ir::OperationInGraph place,
                                             const ir::PlannedSplit& split);

}  // namespace tap::passes
