#include "ir/step_state.h"

#include <algorithm>

namespace tap::ir {

std::vector<ValueId> left_by_a_step(const Program& program, GraphId id) {
  const Graph& graph = program[id];
  std::vector<ValueId> left;
  for (std::size_t v = 0; v < graph.values.size(); ++v) left.emplace_back(v);
  bool repeated = false;
  for (const Operator& op : program.operators) {
    if (!op.region() || op.region()->graph != id) continue;
    if (op.region()->kind != RegionKind::iterate) return left;
    repeated = true;
  }
  for (std::size_t k = 0; k < graph.outputs.size() && repeated; ++k) left[graph.inputs[k].index()] = graph.outputs[k];
  return left;
}

bool never_runs(const Operator& op) {
  return std::any_of(op.dims.begin(), op.dims.end(),
                     [](const IndexDim& dim) { return dim.role == DimRole::counter && dim.range.empty(); });
}

}  // namespace tap::ir
