#include "passes/pass_manager.h"

#include <algorithm>
#include <chrono>

#include "ir/graph.h"
#include "ir/graphs/program_hash.h"
#include "ir/verify/verify.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A pass that runs until nothing changes stops after a run without changes; this many runs with changes mean that it
// never stops.
constexpr int most_runs = 1000;

class Manager {
 public:
  Manager(Program program, const PassContext& context, const AfterPass& after) : context_(context), after_(after) {
    result_.program = std::move(program);
  }

  void run(const Pass& pass) {
    std::vector<Remark> remarks;
    int runs = 0;
    while (run_once(pass, remarks) && pass.until_stable)
      TAP_CHECK(++runs < most_runs, "the pass `" + std::string(pass.name) + "` does not terminate");
    for (Remark& remark : remarks) {  // of the last run: something declined earlier may have been done later
      remark.pass = pass.name;
      result_.remarks.push_back(std::move(remark));
    }
  }
  Passed take() {
    result_.plan = std::move(context_.plan);
    return std::move(result_);
  }

 private:
  // Whether it changed the program.
  bool run_once(const Pass& pass, std::vector<Remark>& remarks) {
    auto start = std::chrono::steady_clock::now();
    PassResult made = pass.run(result_.program, context_);
    double seconds = seconds_since(start);
    remarks = std::move(made.remarks);
    for (PlanProblem& problem : made.problems) result_.problems.push_back(std::move(problem));
    if (made.rules) result_.rules = std::move(made.rules);
    if (made.decided) context_.plan = std::move(*made.decided);
    for (Diagnostic& diagnostic : made.diagnostics) result_.diagnostics.push_back(std::move(diagnostic));
    bool changed = false;
    for (ClaimedStage& earlier : made.earlier) changed |= take(pass, std::move(earlier), 0);
    return take(pass, {std::move(made.program), std::move(made.step)}, seconds) || changed;
  }

  bool take(const Pass& pass, ClaimedStage made, double seconds) {
    auto start = std::chrono::steady_clock::now();
    const bool changed = made.program != result_.program;
    if (changed) {
      std::vector<std::string> problems = verify(made.program);
      if (!problems.empty())
        TAP_UNREACHABLE("the pass `" + std::string(pass.name) +
                        "` produced an ill-formed program: " + problems.front());
      check_form(pass, made);
    }
    if (after_) after_({pass, result_.program, made.program, seconds, seconds_since(start)});
    if (changed) add_step(pass, std::move(made));
    return changed;
  }

  // There must be claims for every graph that changed, one for each of its values and operations. A new region's
  // contents are claimed by the region.
  void check_form(const Pass& pass, const ClaimedStage& made) const {
    const std::string name(pass.name);
    std::vector<bool> claimed(made.program.graphs.size(), false);
    for (const GraphClaim& claim : made.step.graphs) {
      const Graph& graph = made.program[claim.after];
      TAP_CHECK(claim.values.size() == graph.values.size() && claim.operations.size() == graph.operations.size(),
                "the pass `" + name + "` claims a graph other than its result");
      claimed[claim.after.index()] = true;
      for (std::size_t o = 0; o < graph.operations.size(); ++o)
        if (std::holds_alternative<GroupOf>(claim.operations[o]) ||
            std::holds_alternative<OfferedFor>(claim.operations[o]))
          claim_regions(made.program, made.program[graph.operations[o].op], claimed);
    }
    const std::vector<Graph>& before = result_.program.graphs;
    for (std::size_t g = 0; g < claimed.size(); ++g)
      TAP_CHECK(claimed[g] || (g < before.size() && before[g] == made.program.graphs[g]),
                "the pass `" + name + "` does not claim a graph that it changed");
  }

  static void claim_regions(const Program& program, const Operator& op, std::vector<bool>& claimed) {
    const RegionBody* region = op.region();
    if (!region) return;
    std::vector<GraphId> graphs{region->graph};
    for (const Alternative& a : region->alternatives) graphs.push_back(a.graph);
    for (GraphId id : graphs) {
      if (claimed[id.index()]) continue;
      claimed[id.index()] = true;
      for (const Operation& operation : program[id].operations) claim_regions(program, program[operation.op], claimed);
    }
  }

  void add_step(const Pass& pass, ClaimedStage made) {
    if (made.step.pass.empty()) made.step.pass = pass.name;
    if (context_.hash_stages) {
      made.step.before = certificate_end_.empty() ? hash_of(result_.program) : certificate_end_;
      made.step.after = certificate_end_ = hash_of(made.program);
    }
    result_.certificate.steps.push_back(std::move(made.step));
    result_.program = std::move(made.program);
  }

  PassContext context_;
  const AfterPass& after_;
  std::string certificate_end_;  // the hash of the program, once there is a step
  Passed result_;
};

}  // namespace

Passed run(std::span<const Pass> passes, Program program, const PassContext& context, const AfterPass& after) {
  Manager manager(std::move(program), context, after);
  for (const Pass& pass : passes) manager.run(pass);
  return manager.take();
}

}  // namespace tap::passes
