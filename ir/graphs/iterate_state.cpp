#include "ir/graphs/iterate_state.h"

#include <algorithm>

#include "ir/graph.h"

namespace tap::ir {

std::vector<ValueId> trip_results(const Program& program, GraphId id) {
  const Graph& graph = program[id];
  std::vector<ValueId> results;
  for (std::size_t v = 0; v < graph.values.size(); ++v) results.emplace_back(v);
  bool repeated = false;
  for (const Operator& op : program.operators) {
    if (!op.region() || op.region()->graph != id) continue;
    if (op.region()->kind != RegionKind::iterate) return results;
    repeated = true;
  }
  for (std::size_t k = 0; k < graph.outputs.size() && repeated; ++k)
    results[graph.inputs[k].index()] = graph.outputs[k];
  return results;
}

bool is_gathered_after_trips(const Program& program, GraphId id, ValueId result) {
  const Graph& graph = program[id];
  if (id != program.main && std::ranges::count(graph.outputs, result) > 0) return true;
  return std::ranges::any_of(graph.operations,
                             [&](const Operation& reader) { return std::ranges::count(reader.operands, result) > 0; });
}

namespace {

// The graphs that main reaches; with or without iterates of zero trips.
std::vector<bool> reached(const Program& program, bool with_zero_trips) {
  std::vector<bool> known(program.graphs.size(), false);
  std::vector<GraphId> open;
  auto reach = [&](GraphId id) {
    if (id.valid() && !known[id.index()]) known[id.index()] = true, open.push_back(id);
  };
  reach(program.main);
  while (!open.empty()) {
    const GraphId id = open.back();
    open.pop_back();
    for (const Operation& operation : program[id].operations) {
      const RegionBody* region = program[operation.op].region();
      if (!region || (region->kind == RegionKind::iterate && region->trips.empty() && !with_zero_trips)) continue;
      reach(region->graph);
      for (const Alternative& other : region->alternatives) reach(other.graph);
    }
  }
  return known;
}

}  // namespace

std::vector<bool> never_run(const Program& program) {
  std::vector<bool> never = reached(program, true);
  const std::vector<bool> runs = reached(program, false);
  for (std::size_t g = 0; g < never.size(); ++g) never[g] = never[g] && !runs[g];
  return never;
}

}  // namespace tap::ir
