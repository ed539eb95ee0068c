#include "passes/plan_problem.h"

#include <algorithm>

#include "ir/operation_names.h"
#include "ir/text_names.h"
#include "support/diagnostic.h"

namespace tap::passes {

using namespace ir;

std::string near_or_all(const std::string& name, const std::vector<std::string>& names, const std::string& kind) {
  constexpr std::size_t most = 12;
  if (auto near = did_you_mean(name, names)) return "did you mean `" + *near + "`?";
  if (names.empty()) return "";
  std::vector<std::string> shown;
  for (const std::string& n : names)
    if (shown.size() < most) shown.push_back("`" + n + "`");
  std::string text = "the " + kind + " are " + joined(shown);
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

PlanProblem no_operation(const Program& program, std::size_t decision, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [graph, path] : graph_paths(program))
    for (const std::string& own : operation_names(program[graph]))
      if (!own.empty()) names.push_back(path + own);
  const Graph& main = program[program.main];
  for (ValueId v : main.inputs)
    if (main[v].name == name)
      return {decision, "`" + name + "` is an input, which no operation writes", PlanPart::operation, name,
              near_or_all("", names, "operations")};
  return {decision, "no operation is called `" + name + "`", PlanPart::operation, name,
          near_or_all(name, names, "operations")};
}

PlanProblem no_dim(const Operator& op, std::size_t decision, const std::string& operation, const std::string& dim) {
  std::vector<std::string> have, shown;
  for (const IndexDim& d : op.dims) have.push_back(d.name);
  for (const std::string& name : have) shown.push_back("`" + name + "`");
  auto times = std::count(have.begin(), have.end(), dim);
  auto near = did_you_mean(dim, have);
  std::string message =
      times > 1 ? "`" + operation + "` has " + std::to_string(times) + " dims called `" + dim + "`"
                : "`" + operation + "` has no dim `" + dim + "`; it has " + (have.empty() ? "none" : joined(shown));
  std::string help = times > 1 ? "`#0` is the first of its dims, `#1` the second"
                     : near    ? "did you mean `" + *near + "`?"
                               : "";
  return {decision, std::move(message), PlanPart::dim, dim, std::move(help)};
}

}  // namespace tap::passes
