// Runs passes in order. Verifies the result of each, so that a fault is reported with the name of its pass; collects
// their claims as a certificate, and their remarks.
#pragma once

#include <functional>
#include <map>
#include <span>

#include "passes/pass_table.h"

namespace tap::passes {

struct PassRun {
  const Pass& pass;
  const ir::Program& before;
  const ir::Program& after;
  double seconds;   // of the pass itself
  double verifier;  // of the verifier
};
// Called after each run of a pass; a pass that runs until nothing changes has several.
using AfterPass = std::function<void(const PassRun& run)>;
// By entry of the pass table.
using PassSeconds = std::map<const Pass*, double>;

struct Passed {
  ir::Program program;
  ir::Certificate certificate;  // a step for each run that changed the program
  std::vector<Remark> remarks;
  std::vector<PlanProblem> problems = {};  // decisions of the plan that no pass could apply
  std::optional<ir::Program> rules = {};   // the instances of rewrite rules that the certificate refers to
  ir::Plan plan = {};                      // the context's plan, with the decisions of passes
  std::vector<Diagnostic> diagnostics = {};
};

// Pre: the program is verified. Throws an InternalError that names the pass if the verifier rejects its result.
Passed run(std::span<const Pass> passes, ir::Program program, const PassContext& context = {},
           const AfterPass& after = {});

}  // namespace tap::passes
