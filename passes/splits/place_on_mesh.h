// The axis of a mesh that a plan names, and whether blocks may be placed on it: it exists, has a position for each block,
// and is free.
#pragma once

#include "ir/graphs/operation_names.h"
#include "passes/pass.h"

namespace tap::passes {

struct MeshAxisRef {
  ir::MeshId mesh;
  ir::AxisRef axis;
};
// Pre: the split is for a mesh axis. Nothing if the name is unknown, or an axis is named without its mesh and is
// ambiguous.
std::optional<MeshAxisRef> named_axis(const ir::Program& program, const ir::PlannedSplit& split);

// Why the split, which is for a mesh axis, is impossible; the problem's decision number is left 0.
std::optional<PlanProblem> why_not_over_axis(const ir::Program& program, ir::OperationInGraph location,
                                             const ir::PlannedSplit& split);

}  // namespace tap::passes
