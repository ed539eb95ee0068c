// An operation is alive if one of its results is an output or is read by an operation that is alive.
#include "ir/graph.h"
#include "ir/graphs/graph_algorithms.h"
#include "ir/graphs/graph_rebuild.h"

namespace tap::ir {

Selection alive_part(const Graph& graph) {
  DefUse uses = def_use(graph);
  Selection alive(graph, false);
  std::vector<ValueId> open;
  auto need = [&](ValueId v) {
    if (alive.values[v.index()]) return;
    alive.values[v.index()] = true;
    open.push_back(v);
  };
  for (ValueId v : graph.outputs) need(v);
  while (!open.empty()) {
    ValueId v = open.back();
    open.pop_back();
    for (OperationId writer : uses.writers[v.index()]) {
      alive.operations[writer.index()] = true;
      for (ValueId operand : graph[writer].operands) need(operand);
      for (ValueId result : graph[writer].results) need(result);  // its other results stay written in full
    }
  }
  for (ValueId v : graph.inputs) alive.values[v.index()] = true;  // the signature stays as it is
  return alive;
}

}  // namespace tap::ir
