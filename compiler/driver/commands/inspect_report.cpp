#include "compiler/driver/commands/inspect_report.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "compiler/driver/commands/passes.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/show/report.h"
#include "passes/pass_table.h"
#include "passes/shardings/plan_shardings.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

// The graph that shardings propagate over: after the passes that always run.
const ir::Program& graph_to_shard(const pipeline::Compilation& made) {
  std::size_t last = 0;
  for (std::size_t step = 0; step < made.certificate.steps.size(); ++step)
    for (const passes::Pass& pass : passes::lowering())
      if (pass.name == made.certificate.steps[step].pass) last = step + 1;
  return made.stages[std::min(last, made.stages.size() - 1)];
}

nlohmann::ordered_json data_of(Session& session, const std::string& file, const PassOptions& passes,
                               const std::string& plan, const SourceOptions& source, const ReportedPlans* plans) {
  const ProgramFile input = read_program_file(session, file, source);
  ValueLocations locations;
  pipeline::Options config = pipeline_options(passes, pipeline::Stage::sharded);
  Dumps none(session, passes);
  const pipeline::Compilation made = compile(session, input, std::move(config), passes, none,
                                             [&](const Compiled& built) { locations = locations_of_values(built); });
  Phase phase("writing the report");
  std::optional<passes::Propagated> propagated;
  const ir::Program& graph = graph_to_shard(made);
  if (passes::has_shardings(graph) && !passes::has_calls(graph)) {
    passes::PropagationOptions how;
    how.keep_net = true;
    propagated = passes::propagate(graph, how);
  }
  return report_json(session, {input.file, plan, made, propagated ? &*propagated : nullptr, locations, plans});
}

}  // namespace

std::string inspect_report(Session& session, const std::string& file, const std::string& plan,
                           const SourceOptions& source, bool as_page) {
  PassOptions passes;
  passes.plan = read_plan(session, plan);
  take(passes, source);
  const nlohmann::ordered_json data = data_of(session, file, passes, plan, source, nullptr);
  if (as_page) return report_page(data);
  return data.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string plans_report(Session& session, const std::string& file, const ir::Plan& plan, const SourceOptions& source,
                         const ReportedPlans& plans) {
  PassOptions passes;
  passes.plan = plan;
  take(passes, source);
  return report_page(data_of(session, file, passes, "", source, &plans));
}

}  // namespace tap::driver
