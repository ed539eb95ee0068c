// Applies decisions of one kind in order, each to the result of the previous ones: every applied decision is a step
// with its claims; one that cannot be applied is skipped and reported.
//
//   unroll U 2        a step: two trips of U become one
//   unroll Q 2        a problem: unknown operation `Q`
#pragma once

#include "ir/graphs/operation_names.h"
#include "passes/rebuild.h"

namespace tap::passes {

struct PlannedResult {
  ir::Program program;
  std::vector<ir::Step> steps;      // one for each applied decision
  std::vector<ir::Program> stages;  // the result of each step
  std::vector<Remark> remarks;
  std::vector<PlanProblem> problems;
};

// The result of a pass that applies decisions of a plan: the last step is the pass's, the others come before it.
PassResult as_pass_result(const ir::Program& before, PlannedResult planned);

// The claim of a graph that did not change.
ir::GraphClaim untouched(const ir::Program& program, ir::GraphId graph);
// Removes what main does not reach, and the claims about it.
void remove_unreachable(ir::Program& program, ir::Step& step);

class PlanApplier {
 protected:
  PlanApplier(const ir::Program& program, std::string pass)
      : pass_(std::move(pass)), result_{program, {}, {}, {}, {}} {}

  // Applies the decisions of the type that `apply` takes, and ignores the others.
  template <class Decision, class Apply>
  PlannedResult each(const ir::Plan& plan, Apply apply) {
    for (decision_ = 0; decision_ < plan.decisions.size(); ++decision_)
      if (auto* own = std::get_if<Decision>(&plan.decisions[decision_])) apply(*own);
    return std::move(result_);
  }

  // Reports a problem of the current decision.
  void problem(PlanProblem found);
  void problem(std::string message) { problem(PlanProblem{decision_, std::move(message)}); }
  // Reports a problem if it does not exist.
  std::optional<ir::OperationInGraph> find(const std::string& operation);

  // Adds a step that replaces `graph` by `made`; all other graphs of `before` stay. New operators are in the program
  // already; `added` has the claims of its new graphs, except those of regions.
  void step(const ir::Program& before, ir::GraphId graph, Rebuilt made, std::vector<ir::GraphClaim> added = {});

  ir::Program& program() { return result_.program; }
  void remark(Remark remark) { result_.remarks.push_back(std::move(remark)); }

 private:
  std::string pass_;
  PlannedResult result_;
  std::size_t decision_ = 0;
};

}  // namespace tap::passes
