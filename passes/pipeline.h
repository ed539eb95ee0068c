// The passes in their order, and the pass manager: it runs them, looks at what each one made with the verifier, names the
// one that broke something, and collects what they claim (a certificate) and why they declined (remarks).
#pragma once

#include <functional>
#include <span>

#include "passes/pass.h"

namespace tap::passes {

// In their order. A pass may stand in it more than once.
std::span<const Pass> all_passes();
// Those that always run: from the graph that the frontend builds to the one that a plan speaks of.
std::span<const Pass> lowering();
// Those that apply a plan's lines, up to the one that is cut into blocks (apply_splits.h).
std::span<const Pass> planned_passes();
// Those that stand before the first one of that name.
std::span<const Pass> passes_before(std::string_view name);
// A pass by its name. Null if there is none.
const Pass* find_pass(std::string_view name);
// Every name once, in the order of the tables.
std::vector<std::string> pass_names();

struct PassRun {
  const Pass& pass;
  const ir::Program& before;
  const ir::Program& after;
  double seconds;   // of the pass itself
  double verifier;  // of the verifier
};
// Called after each run of a pass: of one that runs until nothing changes, after each time.
using AfterPass = std::function<void(const PassRun& run)>;

struct Passed {
  ir::Program program;
  ir::Certificate certificate;  // a step for each run that changed something
  std::vector<Remark> remarks;
  std::vector<PlanProblem> problems = {};  // decisions of the plan that no pass could apply
  std::optional<ir::Program> rules = {};   // the instances of rewrite rules that the certificate speaks of
};

// Pre: the program is verified. Throws InternalError that names the pass whose result the verifier refuses.
Passed run(std::span<const Pass> passes, ir::Program program, const PassContext& context = {},
           const AfterPass& after = {});

}  // namespace tap::passes
