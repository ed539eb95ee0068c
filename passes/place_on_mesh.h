// Whether the blocks of a dim may go over an axis of a mesh: that there is this axis, that it has a place for each block and is
// free, and that each block then holds a box of what is written.
#pragma once

#include "ir/operation_names.h"
#include "passes/pass.h"

namespace tap::passes {

// Why the split, which is for a mesh axis, cannot be; its decision is left 0.
std::optional<PlanProblem> why_not_over_axis(const ir::Program& program, ir::Place place, std::uint32_t dim,
                                             const ir::PlannedSplit& split);

}  // namespace tap::passes
