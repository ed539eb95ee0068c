#include "compiler/driver/commands/decisions.h"

#include <CLI/CLI.hpp>

#include "backend/llvm/library.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/write_outputs.h"

namespace tap::driver {

void add_decision_options(CLI::App& app, DecisionOptions& options) {
  app.add_option("--plan", options.plan,
                 "A plan: what to fuse and split, and where to place the blocks; the cost model decides what it leaves "
                 "open. `none`: the program as written (./none names a file)");
  app.add_option("--plan-out", options.plan_out,
                 "Write the complete plan, with the decisions of the cost model, to this file");
  app.add_option("--evaluations", options.evaluations,
                 "Largest number of evaluations of the cost model (default 32; 0: decide nothing)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30));
}

void read_decisions(Session& session, const DecisionOptions& options, PassOptions& passes) {
  if (options.plan == "none") {
    passes.plan.evaluations = 0;
    passes.no_distribute = true;
    return;
  }
  passes.plan = read_plan(session, options.plan);
}

void let_decide(Session& session, const DecisionOptions& options, const std::string& machine_file,
                pipeline::Options& wanted, const std::string& target) {
  pipeline::Deciding by;
  by.cluster = cluster_for(session, *backend::target_named(target), machine_file);
  by.threads = by.cluster.types.front().threads;
  if (options.evaluations >= 0) by.evaluations = static_cast<std::size_t>(options.evaluations);
  wanted.decide = std::move(by);
}

void write_decisions(const Session& session, const DecisionOptions& options, const ir::Plan& plan) {
  if (!options.plan_out.empty()) write_outputs(session, {{options.plan_out, {ir::print(plan)}}});
}

}  // namespace tap::driver
