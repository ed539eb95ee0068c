#include "passes/placed.h"

#include <algorithm>

#include "ir/graph.h"

namespace tap::passes {

using namespace ir;

bool is_placed(const Program& program, GraphId graph) {
  auto placed = [&](const Operation& operation) {
    return program[operation.op].transfer() ||
           std::any_of(operation.placements.begin(), operation.placements.end(), on_devices);
  };
  return std::any_of(program[graph].operations.begin(), program[graph].operations.end(), placed);
}
bool is_placed(const Program& program) {
  for (std::size_t g = 0; g < program.graphs.size(); ++g)
    if (is_placed(program, GraphId(g))) return true;
  return false;
}

std::vector<bool> bound_to_transfers(const Program& program, const Graph& graph) {
  std::vector<bool> moved(graph.values.size(), false), bound;
  for (const Operation& operation : graph.operations)
    for (ValueId v : operation.results) moved[v.index()] = moved[v.index()] || program[operation.op].transfer();
  for (const Operation& operation : graph.operations)
    bound.push_back(
        program[operation.op].transfer() ||
        std::any_of(operation.operands.begin(), operation.operands.end(), [&](ValueId v) { return moved[v.index()]; }));
  return bound;
}

}  // namespace tap::passes
