#include "compiler/driver/commands/made_by_plan.h"

#include <algorithm>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/show/decision_report.h"
#include "ir/graphs/operation_names.h"
#include "ir/text/plan_text.h"

namespace tap::driver {
namespace {

std::vector<std::string> operations_of(const ir::Decision& decision) {
  if (const auto* fusion = std::get_if<ir::PlannedFusion>(&decision)) return fusion->operations;
  if (const auto* choice = std::get_if<ir::PlannedChoice>(&decision)) return {choice->operation};
  if (const auto* unroll = std::get_if<ir::PlannedUnroll>(&decision)) return {unroll->operation};
  return {std::get<ir::PlannedSplit>(decision).operation};
}

}  // namespace

MadeByPlan made_by_plan(Session& session, const PricedOptions& options, const std::string& name) {
  PricedOptions as_planned = options;
  as_planned.decisions.evaluations = 0;  // names do not depend on what else is decided
  as_planned.decisions.budget.clear();
  const ir::Machine machine = machine_for(session, *backend::target_named("native"), options.machine);
  MadeByPlan found;
  const pipeline::Compilation divided = sharded_program(session, as_planned, machine);
  for (const auto& [graph, path] : ir::graph_paths(divided.program))
    for (const ir::Value& value : divided.program[graph].values) {
      found.names.push_back(path + value.name);
      if (found.names.back() == name) found.type = value.type;
    }
  PassOptions passes;
  read_decisions(session, options.decisions, passes);
  for (const ir::Decision& decision : passes.plan.decisions)
    if (std::ranges::any_of(operations_of(decision),
                            [&](const std::string& made) { return made != name && is_about(name, made); }))
      found.lines += "  made by the plan: " + ir::decision_text(decision) + "\n";
  return found;
}

}  // namespace tap::driver
