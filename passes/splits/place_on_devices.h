// Whether the blocks of a dim, or a whole operation, may be placed on devices: along an axis of a mesh
// (place_on_mesh.h), or on sets of devices that the plan lists. Each block then has its devices, and each device
// holds a box of the results.
#pragma once

#include "ir/graphs/operation_names.h"
#include "passes/pass.h"

namespace tap::passes {

// Why the split, which is for devices, is impossible; the problem's decision number is left 0. Without a dim, the whole
// operation is placed.
std::optional<PlanProblem> why_not_on_devices(const ir::Program& program, ir::OperationInGraph location,
                                              std::optional<std::uint32_t> dim, const ir::PlannedSplit& split);
// Likewise, if its writes must form boxes (stage_interleaved_writes.h).
std::optional<PlanProblem> why_no_boxes(const ir::Operator& op, std::uint32_t dim, const ir::PlannedSplit& split);

}  // namespace tap::passes
