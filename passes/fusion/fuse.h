// Fuses operations into groups as a plan says. Values that are not read outside a group become values of its graph
// only.
//
//   fuse m, s, y over i        m, s and y become one operation, called y; m and s vanish from the graph around it
#pragma once

#include "passes/fusion/group.h"
#include "passes/plan_applier.h"

namespace tap::passes {

// Decisions that are no fusions are passed over; one that cannot be is left out, with a problem that says why.
PlannedResult apply_fusions(const ir::Program& program, const ir::Plan& plan, const Caution& caution = {});

// The pass: the plan's fuse lines.
PassResult fuse(const ir::Program& program, const PassContext& context);

// The graph with each group in the place of its operations. The groups' graphs and operators are added to the program.
// Pre: no operation is in two groups, and the groups do not wait for each other in a circle.
Rebuilt with_groups(ir::Program& program, ir::GraphId graph, std::vector<MadeGroup> groups);

}  // namespace tap::passes
