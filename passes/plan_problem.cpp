#include "passes/plan_problem.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/text_names.h"
#include "support/diagnostic.h"

namespace tap::passes {

using namespace ir;

std::string suggestion_for(const std::string& name, const std::vector<std::string>& names, const std::string& kind) {
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
      return {decision, "`" + name + "` is an input, which can only be split over devices, and only if it is read",
              PlanPart::operation, name, suggestion_for("", names, "operations")};
  return {decision, "unknown operation `" + name + "`", PlanPart::operation, name,
          suggestion_for(name, names, "operations")};
}

namespace {

std::vector<std::string> own_dims(const Program& program, const Operation& operation) {
  std::vector<std::string> names;
  for (const IndexDim& dim : with_author_names(program, operation).dims) names.push_back(dim.name);
  return names;
}

struct NamedOperation {
  std::string name;
  std::vector<std::string> dims;
};

// The operations that the author of `operation` may have meant: those of its equation, and those inside its body.
std::vector<NamedOperation> related(const Program& program, OperationInGraph location, const std::string& operation) {
  std::vector<NamedOperation> found;
  for (const auto& [graph, path] : graph_paths(program)) {
    std::vector<std::string> names = operation_names(program[graph]);
    for (std::size_t o = 0; o < names.size(); ++o) {
      const std::string name = path + names[o];
      bool inside = name.starts_with(operation + "/");
      bool is_sibling = graph == location.graph && name.starts_with(operation + ".");
      if (inside || is_sibling) found.push_back({name, own_dims(program, program[graph].operations[o])});
    }
  }
  return found;
}

// "`Y.sum` has it", or the candidates if none has it.
std::string operations_with(const std::vector<NamedOperation>& candidates, const std::string& dim) {
  constexpr std::size_t most = 6;
  std::vector<std::string> with, all;
  for (const NamedOperation& c : candidates) {
    if (std::find(c.dims.begin(), c.dims.end(), dim) != c.dims.end() && with.size() < most)
      with.push_back("`" + plan_name(c.name) + "`");
    if (all.size() < most) all.push_back("`" + plan_name(c.name) + "`");
  }
  if (!with.empty()) return joined(with) + (with.size() == 1 ? " has" : " have") + " a dim `" + dim + "`";
  return all.empty() ? "" : "the operations inside are " + joined(all);
}

}  // namespace

PlanProblem no_dim(const Program& program, OperationInGraph location, std::size_t decision,
                   const std::string& operation, const std::string& dim) {
  const std::vector<std::string> have =
      own_dims(program, program[location.graph].operations[location.operation.index()]);
  std::vector<std::string> shown;
  for (const std::string& name : have) shown.push_back("`" + name + "`");
  auto times = std::count(have.begin(), have.end(), dim);
  auto near = did_you_mean(dim, have);
  std::string message =
      times > 1 ? "`" + operation + "` has " + std::to_string(times) + " dims called `" + dim + "`"
                : "`" + operation + "` has no dim `" + dim + "`; it has " + (have.empty() ? "no dims" : joined(shown));
  std::string other = operations_with(related(program, location, operation), dim);
  std::string help = times > 1        ? "`#0` is its first dim, `#1` its second"
                     : !other.empty() ? other
                     : near           ? "did you mean `" + *near + "`?"
                                      : "";
  return {decision, std::move(message), PlanPart::dim, dim, std::move(help)};
}

}  // namespace tap::passes
