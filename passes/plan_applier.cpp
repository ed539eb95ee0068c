#include "passes/plan_applier.h"

#include "ir/graph.h"
#include "passes/plan_problem.h"

namespace tap::passes {

using namespace ir;

PassResult as_pass_result(const Program& before, PlannedResult planned) {
  PassResult result{std::move(planned.program), {}, std::move(planned.remarks), std::move(planned.problems)};
  if (planned.steps.empty()) {
    for (std::size_t g = 0; g < before.graphs.size(); ++g) result.step.graphs.push_back(untouched(before, GraphId(g)));
    return result;
  }
  for (std::size_t k = 0; k + 1 < planned.steps.size(); ++k)
    result.earlier.push_back({std::move(planned.stages[k]), std::move(planned.steps[k])});
  result.step = std::move(planned.steps.back());
  return result;
}

GraphClaim untouched(const Program& program, GraphId graph) {
  return claim_of_part(graph, Selection(program[graph], true));
}

void remove_unreachable(Program& program, Step& step) {
  std::vector<GraphId> new_ids = remove_unreachable(program);
  std::vector<GraphClaim> kept;
  for (GraphClaim& claim : step.graphs) {
    claim.after = new_ids[claim.after.index()];
    if (claim.after.valid()) kept.push_back(std::move(claim));
  }
  step.graphs = std::move(kept);
}

void PlanApplier::problem(PlanProblem found) {
  found.decision = decision_;
  result_.problems.push_back(std::move(found));
}

std::optional<OperationInGraph> PlanApplier::find(const std::string& operation) {
  auto location = OperationFinder(program()).find(program().main, operation);
  if (!location) problem(no_operation(program(), decision_, operation));
  return location;
}

void PlanApplier::step(const Program& before, GraphId graph, Rebuilt made, std::vector<GraphClaim> added) {
  Step step{pass_, {}, {}, {}};
  for (std::size_t g = 0; g < before.graphs.size(); ++g)
    step.graphs.push_back(GraphId(g) == graph ? std::move(made.claim) : untouched(before, GraphId(g)));
  for (GraphClaim& claim : added) step.graphs.push_back(std::move(claim));
  program().graphs[graph.index()] = std::move(made.graph);
  remove_unreachable(program(), step);
  result_.steps.push_back(std::move(step));
  result_.stages.push_back(program());
}

}  // namespace tap::passes
