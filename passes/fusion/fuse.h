// Fuses operations into groups as a plan says. Values that are not read outside a group become values of its graph
// only.
//
//   fuse m, s, y over i        m, s and y become one operation, called y; m and s vanish from the graph around it
#pragma once

#include "passes/fusion/group.h"
#include "passes/plan_applier.h"

namespace tap::passes {

// Ignores decisions that are not fusions. A fusion that is impossible is skipped and reported as a problem.
PlannedResult apply_fusions(const ir::Program& program, const ir::Plan& plan, const Caution& caution = {});

// The pass: the plan's fuse lines.
PassResult fuse(const ir::Program& program, const PassContext& context);

// The graph with each group in place of its operations. The groups' graphs and operators are added to the program.
// Pre: no operation is in two groups, and the groups do not depend on each other in a cycle.
Rebuilt with_groups(ir::Program& program, ir::GraphId graph, std::vector<MadeGroup> groups);

}  // namespace tap::passes
