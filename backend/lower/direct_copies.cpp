#include "backend/lower/direct_copies.h"

#include <algorithm>

#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

// y[i, j] = x[i, j]
bool copies_cells(const Operator& op) {
  if (!op.map() || op.operands.size() != 1 || op.results != op.operands || op.reads.size() != 1) return false;
  if (op.writes.size() != 1 || !op.constraints.empty() || !op.blockings.empty()) return false;
  const Access& read = op.reads[0];
  const bool moves = std::ranges::any_of(read.coordinates, [](const auto& at) { return at.has_value(); });
  return !moves && read.projection == op.writes[0].projection && op.exprs[op.map()->values[0]].op == CellOp::read;
}

bool holds(const std::vector<ValueId>& values, ValueId v) { return std::ranges::find(values, v) != values.end(); }

}  // namespace

std::vector<bool> direct_copies(const GroupView& group, const MovingDemand& windows) {
  std::vector<std::size_t> readers(group.graph.values.size(), 0);
  for (const Operation& operation : group.graph.operations)
    for (ValueId v : operation.operands) ++readers[v.index()];
  std::vector<bool> direct;
  for (const Operation& operation : group.graph.operations) {
    direct.push_back(copies_cells(group.program[operation.op]));
    if (!direct.back()) continue;
    const ValueId from = operation.operands[0], to = operation.results[0];
    direct.back() = readers[from.index()] == 1 && holds(group.graph.outputs, to) && !holds(group.graph.inputs, from) &&
                    !holds(group.graph.outputs, from) && windows.values[from.index()] == windows.values[to.index()];
  }
  return direct;
}

}  // namespace tap::backend
