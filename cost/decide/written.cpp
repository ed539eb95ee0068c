#include "cost/decide/written.h"

#include <algorithm>
#include <map>
#include <optional>

#include "cost/decide/folds.h"
#include "cost/decide/part.h"
#include "ir/graphs/operation_names.h"
#include "passes/rewrites/pick_choices.h"

namespace tap::cost {

using namespace ir;

namespace {

// All of a graph as a program, if it has no regions.
std::optional<Program> program_of(const Program& program, GraphId id) {
  const Graph& graph = program[id];
  std::vector<OperationId> all;
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    if (!is_standalone(program, graph.operations[o])) return std::nullopt;
    all.emplace_back(o);
  }
  return part_of(program, graph, def_use(graph), all);
}

}  // namespace

std::vector<WrittenChoice> written_choices(const Program& program, const std::set<std::string>& fixed) {
  std::vector<WrittenChoice> choices;
  std::map<OperatorId, std::optional<std::size_t>> known;
  for (const auto& [id, path] : graph_paths(program)) {
    const Graph& graph = program[id];
    for (const Operation& operation : graph.operations) {
      const RegionBody* region = program[operation.op].region();
      if (!region || region->kind != RegionKind::choice) continue;
      const std::string name = path + graph[operation.results[0]].name;
      const std::uint32_t picked = passes::picked_by_default(*region);
      if (picked == 0 || speaks_of(fixed, name)) continue;
      auto [at, fresh] = known.emplace(operation.op, std::nullopt);
      if (fresh) {
        std::optional<Program> written = program_of(program, region->graph);
        std::optional<Program> by_default = program_of(program, region->alternatives[picked - 1].graph);
        if (!written || !by_default) continue;
        at->second = choices.size();
        choices.push_back({{}, std::move(*written), std::move(*by_default)});
      }
      if (at->second) choices[*at->second].names.push_back(name);
    }
  }
  return choices;
}

}  // namespace tap::cost
