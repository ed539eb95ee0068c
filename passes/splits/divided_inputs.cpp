#include "passes/splits/divided_inputs.h"

#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "passes/splits/split_graph.h"

namespace tap::passes {

using namespace ir;

namespace {

bool is_read(const Graph& graph, ValueId v) {
  return std::ranges::any_of(graph.operations,
                             [v](const Operation& operation) { return std::ranges::count(operation.operands, v) > 0; });
}

}  // namespace

const std::string* divided_input(const Program& program, const Decision& decision) {
  auto* split = std::get_if<PlannedSplit>(&decision);
  if (!split || (!split->axis && split->devices.empty())) return nullptr;
  const Graph& main = program[program.main];
  for (ValueId v : main.inputs)
    if (main[v].name == split->operation && is_read(main, v)) return &split->operation;
  return nullptr;
}

DividedInputs divide_inputs(const Program& program, const Plan& plan) {
  DividedInputs made{program, {"divide_inputs"}, plan, {}};
  made.plan.decisions.clear();
  std::map<std::string, std::vector<std::string>> copies;  // by input
  for (const Decision& decision : plan.decisions)
    if (const std::string* input = divided_input(program, decision)) copies[*input];
  if (!copies.empty()) {
    for (Graph& graph : made.program.graphs) graph.splits.clear();
    Interner interner(made.program);
    GraphSplitter splitter(made.program, interner, program.main);
    const Graph& main = program[program.main];
    for (std::size_t o = 0; o < main.operations.size(); ++o) {
      std::map<ValueId, ValueId> replaced;
      for (ValueId v : main.operations[o].operands)
        if (const auto own = copies.find(main[v].name);
            own != copies.end() && std::ranges::count(main.inputs, v) > 0 && !replaced.contains(v)) {
          replaced[v] = splitter.add_copy(v);
          own->second.push_back(splitter.name_of(replaced[v]));
        }
      splitter.copy(OperationId(o), replaced);
    }
    made.step.graphs.push_back(splitter.finish());
  }
  for (std::size_t d = 0; d < plan.decisions.size(); ++d) {
    const std::string* input = divided_input(program, plan.decisions[d]);
    for (const std::string& copy : input ? copies.at(*input) : std::vector<std::string>{""}) {
      made.plan.decisions.push_back(plan.decisions[d]);
      made.lines.push_back(d);
      if (input) std::get<PlannedSplit>(made.plan.decisions.back()).operation = copy;
    }
  }
  return made;
}

}  // namespace tap::passes
