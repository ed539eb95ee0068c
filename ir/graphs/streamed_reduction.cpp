#include "ir/graphs/streamed_reduction.h"

#include "ir/graph.h"
#include "support/check.h"

namespace tap::ir {
namespace {

// Copies a cell of a monoid, with other cells for its arguments.
CellId graft(const CellExprs& from, CellId cell, CellExprs& to, const std::vector<CellId>& arguments) {
  CellNode node = from[cell];
  if (node.op == CellOp::argument) return arguments[node.attribute];
  for (CellId& arg : node.args) arg = graft(from, arg, to, arguments);
  return to.add(std::move(node));
}

// A map with only the reduction's writes.
Operator map_over(const Operator& op) {
  Operator map;
  map.name = op.name;
  map.dims = op.dims;
  map.writes = op.writes;
  map.results = op.results;
  for (std::uint32_t d = 0; d < map.dims.size(); ++d) {
    if (op.dims[d].role != DimRole::reduction) continue;
    map.dims[d] = {op.dims[d].name, {0, 1}};
    for (Access& write : map.writes) write.invariant_dims.push_back(d);
  }
  return map;
}

// Adds operands of the given types, read where they are written. Returns the cells by component.
std::vector<CellId> read_at_writes(Operator& map, const std::vector<TensorType>& types) {
  auto first = static_cast<std::uint32_t>(map.operands.size());
  map.operands.insert(map.operands.end(), types.begin(), types.end());
  std::vector<CellId> cells;
  for (const Access& write : map.writes) {
    cells.push_back(map.exprs.read(static_cast<std::uint32_t>(map.reads.size()), types[write.tensor].element));
    Access read;
    read.tensor = first + write.tensor;
    read.projection = write.projection;
    map.reads.push_back(std::move(read));
  }
  return cells;
}

}  // namespace

StreamedReduction streamed(const Program& program, const Operator& op) {
  TAP_CHECK(op.reduce() && op.blockings.empty(), "`" + op.name + "` is not a reduction that can be streamed");
  const Monoid& monoid = program[op.reduce()->monoid];
  StreamedReduction parts{op, map_over(op), map_over(op)};
  std::vector<TensorType>& kept = parts.partial.results;
  for (std::size_t w = 0; w < op.writes.size(); ++w) kept[op.writes[w].tensor].element = monoid.components[w].type;
  parts.combine.results = kept;
  std::vector<CellId> both = read_at_writes(parts.combine, kept), later = read_at_writes(parts.combine, kept);
  both.insert(both.end(), later.begin(), later.end());
  MapBody combined, finished;
  for (CellId root : monoid.combine) combined.values.push_back(graft(monoid.exprs, root, parts.combine.exprs, both));
  std::vector<CellId> last = read_at_writes(parts.finish, kept);
  for (std::size_t w = 0; w < op.writes.size(); ++w)
    finished.values.push_back(parts.finish.exprs.cast(last[w], op.results[op.writes[w].tensor].element));
  parts.combine.body = std::move(combined);
  parts.finish.body = std::move(finished);
  return parts;
}

Box without_reduction(const Operator& op, Box box) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::reduction) box.dims[d] = {0, 1};
  return box;
}

}  // namespace tap::ir
