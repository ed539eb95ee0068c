#include "compiler/driver/commands/decisions.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "backend/llvm/library.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/machines/machine_reader.h"
#include "compiler/driver/machines/quantity.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/stored_texts.h"
#include "compiler/driver/write_outputs.h"

namespace tap::driver {
namespace {

StoredTexts& decided_plans() {
  static StoredTexts folder({"plans", "plan", "decided", "plans"});
  return folder;
}

// Messages about plan lines must refer to --plan, not to this plan.
ir::Plan earlier_plan(Session& session, const std::string& path) {
  const auto plan = session.plan;
  ir::Plan earlier = read_plan(session, path);
  session.plan = plan;
  return earlier;
}

}  // namespace

std::string why_no_budget(const std::string& text) {
  constexpr double most_seconds = 1e6;
  auto seconds = read_quantity(text, Unit::time);
  if (!seconds || *seconds <= 0) return fmt::format("`{}` is not a time: write 10s or 50ms", text);
  return *seconds <= most_seconds ? "" : fmt::format("{} is more than {} s", text, most_seconds);
}

void add_effort_options(CLI::App& app, DecisionOptions& options) {
  CLI::Option* evaluations =
      app.add_option("--evaluations", options.evaluations,
                     "Largest number of evaluations of the cost model (default 32; 0: decide nothing)")
          ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30));
  app.add_option("--budget", options.budget,
                 "Time limit of decisions, such as 10s; the plan records the number of evaluations")
      ->check(CLI::Validator(why_no_budget, "TIME"))
      ->excludes(evaluations);  // not by its name: CLI11 ends the process where it has no memory to look it up
}

void add_decision_options(CLI::App& app, DecisionOptions& options, bool writes) {
  app.add_option("--plan", options.plan,
                 "A plan: what to fuse and split, and where to place the blocks; the cost model decides the rest. "
                 "`none`: the program as written (./none names a file)");
  if (writes)
    app.add_option("--plan-out", options.plan_out,
                   "Write the complete plan, with the decisions of the cost model, to this file");
  add_effort_options(app, options);
  app.add_option("--start-from", options.start_from,
                 "A plan of an earlier version of the program: lines that still apply are kept, the rest is decided");
}

void read_decisions(Session& session, const DecisionOptions& options, PassOptions& passes) {
  if (options.plan == "none") {
    if (!options.start_from.empty())
      throw Failure{
          exit_code::wrong_command_line,
          Diagnostic(Code::command_line, Span{},
                     "`--plan none` keeps nothing of the plan that `--start-from` gives: the program stays as "
                     "it is written")
              .help("leave out one of them; `--plan ./none` reads a file of that name")};
    passes.plan.evaluations = 0;
    passes.no_distribute = true;
    return;
  }
  passes.plan = read_plan(session, options.plan);
}

pipeline::Deciding deciding_for(const cost::Cluster& cluster, bool no_cache) {
  pipeline::Deciding by;
  by.cluster = cluster;
  by.threads = cluster.types.front().threads;
  if (!no_cache) {
    by.store = &decided_plans();
    by.machine = machine_file_of(cluster, "");
  }
  return by;
}

void let_decide(Session& session, const DecisionOptions& options, const Decider& decider, pipeline::Options& config) {
  pipeline::Deciding by = deciding_for(
      cluster_for(session, *backend::target_named(decider.target), decider.machine_file), decider.no_cache);
  if (options.evaluations >= 0) by.evaluations = static_cast<std::size_t>(options.evaluations);
  if (!options.budget.empty()) by.seconds = read_quantity(options.budget, Unit::time);
  by.start = earlier_plan(session, options.start_from);
  config.decide = std::move(by);
}

void write_decisions(const Session& session, const DecisionOptions& options, const ir::Plan& plan) {
  if (!options.plan_out.empty()) write_outputs(session, {{options.plan_out, {ir::print(plan)}}});
}

}  // namespace tap::driver
