// A graph without its dead operations, or with equal operations merged, by what ir/graphs/graph_rebuild.h finds.
#pragma once

#include "ir/graph.h"
#include "ir/graphs/graph_rebuild.h"

namespace tap::ir {

// Ids are renumbered, order kept.
inline Graph without_dead_code(const Graph& graph) { return rebuild(graph, alive_part(graph)); }

// Outputs keep their names.
inline Graph without_common_subexpressions(const Program& program, const Graph& graph) {
  SharedPart part = shared_part(program, graph);
  Graph named = graph;
  for (auto [kept, removed] : part.takes_name) named.values[kept.index()].name = graph[removed].name;
  return rebuild(named, part.selection);
}

}  // namespace tap::ir
