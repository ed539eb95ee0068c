#include "cost/decide/start.h"

#include <algorithm>

namespace tap::cost {

using namespace ir;

namespace {

// The decisions of the plan that cannot be applied, by number. Problems of one pass hide those of later passes.
std::vector<std::size_t> problems_of(const Program& program, const DecideOptions& options, const Plan& plan) {
  passes::PassContext context = options.context;
  context.plan = plan;
  passes::Passed made{program, {}, {}};
  for (std::span<const passes::Pass> list :
       {options.simplify, passes::planned_passes(), passes::pass_named("apply_splits")}) {
    made = passes::run(list, std::move(made.program), context);
    if (!made.problems.empty()) break;
  }
  std::vector<std::size_t> numbers;
  for (const passes::PlanProblem& problem : made.problems) numbers.push_back(problem.decision);
  return numbers;
}

}  // namespace

Plan with_start(const Program& program, const DecideOptions& options) {
  const std::size_t users = options.context.plan.decisions.size();
  Plan plan = options.context.plan;
  for (const Decision& decision : options.start.decisions) plan.decisions.push_back(decision);
  while (plan.decisions.size() > users) {
    std::vector<std::size_t> wrong = problems_of(program, options, plan);
    std::sort(wrong.begin(), wrong.end());
    wrong.erase(std::unique(wrong.begin(), wrong.end()), wrong.end());
    wrong.erase(wrong.begin(), std::lower_bound(wrong.begin(), wrong.end(), users));
    if (wrong.empty()) break;  // mistakes in the user's own plan are reported when it is applied
    for (auto number = wrong.rbegin(); number != wrong.rend(); ++number)
      plan.decisions.erase(plan.decisions.begin() + static_cast<std::ptrdiff_t>(*number));
  }
  return plan;
}

}  // namespace tap::cost
