// --plan, --plan-out, --evaluations: which decisions the user makes, and which the cost model makes.
//
//   tapc run mlp.tap                          the cost model decides everything
//   tapc run mlp.tap --plan P                 … what P leaves open
//   tapc run mlp.tap --plan none              no decisions: the program runs as it is written
//   tapc run mlp.tap --plan-out P             the complete plan, which runs again as P
#pragma once

#include <cstdint>
#include <string>

#include "compiler/driver/commands/passes.h"

namespace CLI {
class App;
}

namespace tap::driver {

struct DecisionOptions {
  std::string plan, plan_out;
  std::int64_t evaluations = -1;  // not given
};
void add_decision_options(CLI::App& app, DecisionOptions& options);

// The plan of the command line, into the options of the passes. Throws Failure as read_plan does.
void read_decisions(Session& session, const DecisionOptions& options, PassOptions& passes);

// That the cost model decides what the plan leaves open, for the processor of `target` or the machine of a file.
void let_decide(Session& session, const DecisionOptions& options, const std::string& machine_file,
                pipeline::Options& wanted, const std::string& target = "native");

// Writes --plan-out.
void write_decisions(const Session& session, const DecisionOptions& options, const ir::Plan& plan);

}  // namespace tap::driver
