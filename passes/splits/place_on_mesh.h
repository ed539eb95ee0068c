// The axis of a mesh that a plan names, and whether blocks may be placed on it: it exists, has a position for each block,
// and is free.
#pragma once

#include "ir/graphs/operation_names.h"
#include "passes/pass.h"

namespace tap::passes {

struct PlaceOnMesh {
  ir::MeshId mesh;
  ir::AxisRef axis;
};
// Pre: the split is for a mesh axis. Nothing where the program has none of that name, or several of an axis that is named alone.
std::optional<PlaceOnMesh> named_place(const ir::Program& program, const ir::PlannedSplit& split);

// Why the split, which is for a mesh axis, cannot be; its decision is left 0.
std::optional<PlanProblem> why_not_over_axis(const ir::Program& program, ir::OperationInGraph place,
                                             const ir::PlannedSplit& split);

}  // namespace tap::passes
