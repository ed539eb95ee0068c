// --plan, --plan-out, --evaluations, --budget, --start-from: which decisions the user makes, and which the cost model makes.
//
//   tapc run mlp.tap                          the cost model decides everything
//   tapc run mlp.tap --plan P                 … what P leaves open
//   tapc run mlp.tap --plan none              no decisions: the program runs as it is written
//   tapc run mlp.tap --plan-out P             the complete plan, which runs again as P
//   tapc run mlp.tap --budget 10s             … after a longer search
//   tapc run mlp.tap --start-from P           … what P decided for another version of the program and still applies is kept
#pragma once

#include <cstdint>
#include <string>

#include "compiler/driver/commands/passes.h"

namespace CLI {
class App;
}

namespace tap::driver {

struct DecisionOptions {
  std::string plan, plan_out, start_from, budget;
  std::int64_t evaluations = -1;  // -1: not given
};
// --plan-out only of a command that `writes`.
void add_decision_options(CLI::App& app, DecisionOptions& options, bool writes = true);
std::string why_no_budget(const std::string& text);                // empty: it is one
void add_effort_options(CLI::App& app, DecisionOptions& options);  // --evaluations and --budget alone

// Reads the command line's plan into the options of the passes. Throws Failure as read_plan does.
void read_decisions(Session& session, const DecisionOptions& options, PassOptions& passes);

// Lets the cost model decide what the plan leaves open, for the processor of `target` or the machine of a file.
struct Decider {
  std::string machine_file = "";
  std::string target = "native";
  bool no_cache = false;  // ignores stored decisions
};
pipeline::Deciding deciding_for(const cost::Cluster& cluster, bool no_cache);
void let_decide(Session& session, const DecisionOptions& options, const Decider& by, pipeline::Options& config);

// Writes --plan-out.
void write_decisions(const Session& session, const DecisionOptions& options, const ir::Plan& plan);

}  // namespace tap::driver
