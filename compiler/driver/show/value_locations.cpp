#include "compiler/driver/show/value_locations.h"

#include <vector>

#include "compiler/frontend/elaborate/compile.h"
#include "ir/graphs/operation_names.h"

namespace tap::driver {
namespace {

struct Visit {
  ir::GraphId graph;
  std::string path;
};

// The graphs that main reaches, calls included, with the paths that their values have after inlining.
std::vector<Visit> visits_of(const ir::Program& program) {
  std::vector<Visit> visits{{program.main, ""}};
  std::vector<bool> seen(program.graphs.size(), false);
  seen[program.main.index()] = true;
  for (std::size_t k = 0; k < visits.size(); ++k) {
    const auto [graph, path] = visits[k];
    const std::vector<std::string> names = ir::operation_names(program[graph]);
    for (std::size_t o = 0; o < names.size(); ++o) {
      const ir::RegionBody* region = program[program[graph].operations[o].op].region();
      if (!region || seen[region->graph.index()]) continue;
      seen[region->graph.index()] = true;
      visits.push_back({region->graph, path + names[o] + (region->kind == ir::RegionKind::call ? "." : "/")});
    }
  }
  return visits;
}

}  // namespace

ValueLocations locations_of_values(const Compiled& compiled) {
  ValueLocations locations;
  const ir::Program& program = compiled.program;
  const std::vector<GraphProvenance>& from = compiled.provenance.graphs;
  for (std::size_t g = 0; g < from.size() && g < program.graphs.size(); ++g)
    for (std::size_t v = 0; v < from[g].values.size(); ++v)
      locations.values.try_emplace(program.graphs[g].values[v].name, from[g].values[v]);
  for (const auto& [graph, path] : visits_of(program)) {
    if (graph.index() >= from.size()) continue;
    const std::vector<Span>& given = from[graph.index()].shardings;
    for (std::size_t v = 0; v < given.size(); ++v)
      if (given[v].valid()) locations.shardings.try_emplace(path + program[graph].values[v].name, given[v]);
    const std::vector<std::string> names = ir::operation_names(program[graph]);
    const std::vector<Span>& splits = from[graph.index()].splits;
    for (std::size_t k = 0; k < splits.size() && k < program[graph].splits.size(); ++k)
      locations.splits.try_emplace(path + names[program[graph].splits[k].operation.index()], splits[k]);
    const std::vector<Span>& spans = from[graph.index()].barriers;
    for (std::size_t b = 0; b < spans.size() && b < program[graph].barriers.size(); ++b)
      locations.barriers.try_emplace(path + program[graph][program[graph].barriers[b].value].name, spans[b]);
  }
  return locations;
}

}  // namespace tap::driver
