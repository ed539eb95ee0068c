// Operations fused into groups, as a plan says. What nobody outside reads is then a value of the group's graph only.
//
//   fuse m, s, y over i        m, s and y become one operation, called y; m and s vanish from the graph around it
#pragma once

#include "passes/group.h"
#include "passes/rebuild.h"

namespace tap::passes {

struct PlannedResult {
  ir::Program program;
  std::vector<ir::Step> steps;      // one for each decision that was applied
  std::vector<ir::Program> stages;  // what each step made
  std::vector<Remark> remarks;
  std::vector<PlanProblem> problems;
};

// Decisions that are no fusions are passed over; one that cannot be is left out, with a problem that says why.
PlannedResult apply_fusions(const ir::Program& program, const ir::Plan& plan, const Caution& caution = {});

// What a pass gives back that applies decisions of a plan: the last step is the pass's, the others come before it.
PassResult as_pass_result(const ir::Program& before, PlannedResult planned);

// The pass: the plan's fuse lines.
PassResult fuse(const ir::Program& program, const PassContext& context);

// The graph with each group in the place of its operations. The groups' graphs and operators are added to the program.
// Pre: no operation is in two groups, and the groups do not wait for each other in a circle.
Rebuilt with_groups(ir::Program& program, ir::GraphId graph, std::vector<MadeGroup> groups);

// The claim of a graph that nothing happened to.
ir::GraphClaim untouched(const ir::Program& program, ir::GraphId graph);
// Drops what main does not reach, and the claims about it.
void drop_unreached(ir::Program& program, ir::Step& step);

}  // namespace tap::passes
