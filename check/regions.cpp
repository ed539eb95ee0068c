// Groups and transfers: operations moved into a region, and transfers that must cover what is read of them.
#include <algorithm>
#include <span>

#include "check/justify.h"

namespace tap::check {

// The region's first graph has these operations, in data flow order, on the same values; a group may have copies of whole
// values after them.
void Justify::check_region(ir::RegionKind kind, const std::vector<ir::OperationRef>& from, Obligation obligation) {
  const ir::RegionBody* region = side_.op->region();
  expect(obligation, region && region->kind == kind, "the kinds of the regions differ");
  const ir::Graph& inner = context_.after[region->graph];
  const std::size_t held = inner.operations.size();
  expect(obligation, kind == ir::RegionKind::group ? held >= from.size() : held == from.size(),
         "it holds {} operations", held);
  check_data_flow(inner);
  std::vector<Class> classes(inner.values.size());
  for (std::size_t k = 0; k < inner.inputs.size(); ++k) classes[inner.inputs[k].index()] = side_.operands[k];
  std::vector<Origins> origins;
  for (std::size_t o = 0; o < from.size(); ++o) {
    const ir::Operation& operation = inner.operations[o];
    Side before = numbering_.side(from[o]);
    expect(obligation, operation.results.size() == before.results.size(), "its operation {} differs", o);
    for (std::size_t r = 0; r < operation.results.size(); ++r)
      classes[operation.results[r].index()] = before.results[r];
    auto class_of = [&](ir::ValueId v) { return numbering_.find(classes[v.index()]); };
    same_operation(side_of(context_.after, operation, class_of), before);
    origins.push_back({from[o]});
  }
  for (const ir::Operation& copy : std::span(inner.operations).subspan(from.size())) {
    const std::uint32_t read = check_whole_copy(context_.after[copy.op], obligation);
    classes[copy.results[0].index()] = classes[copy.operands[read].index()];
  }
  origins.resize(held);
  check_writes(inner, numbering_, origins);
  for (std::size_t k = 0; k < inner.outputs.size(); ++k)
    expect(obligation, numbering_.same(classes[inner.outputs[k].index()], side_.results[k]), "result {} differs", k);
}

Justify::Result Justify::justify(const ir::GroupOf& j) {
  check_region(ir::RegionKind::group, j.from, Obligation::group);
  check_group(context_.after, *side_.op, context_.assumed);
  return {Obligation::group, {}};
}

// A transfer moves cells to their own positions.
Justify::Result Justify::justify(const ir::TransferOf&) {
  const ir::Operator& op = *side_.op;
  bool moves = op.transfer() && op.operands.size() == 1 && op.results == op.operands && op.reads == op.writes;
  expect(Obligation::transfer, moves, "a transfer changes cells or their positions");
  expect(Obligation::transfer, numbering_.same(side_.operands[0], side_.results[0]), "a transfer changes its value");
  if (readers_.empty()) readers_ = readers_of(context_.after[claim_.after]);
  check_moved(context_.after, context_.after[claim_.after], readers_, *side_.operation);
  return {Obligation::transfer, {}};
}

// For each read of the value by its reader there is a region.
void check_moved(const ir::Program& program, const ir::Graph& graph, const Uses& readers, const ir::Operation& moves) {
  const ir::Operator& op = program[moves.op];
  ir::ValueId moved = moves.results[0];
  expect(Obligation::transfer, std::ranges::count(graph.outputs, moved) == 0, "an output is only partly transferred");
  for (auto [r, t] : readers[moved.index()]) {
    const ir::Operation& reader = graph[r];
    const ir::Operator& its = program[reader.op];
    auto alike = [](const ir::IndexDim& a, const ir::IndexDim& b) {
      return a.range == b.range && a.role == b.role && a.keep == b.keep && a.level == b.level;
    };
    bool same = std::ranges::equal(its.dims, op.dims, alike) && its.blockings == op.blockings;
    for (const ir::Constraint& c : op.constraints)
      same &= std::count(its.constraints.begin(), its.constraints.end(), c) > 0;
    expect(Obligation::reads_covered, same, "the index spaces of the transfer and its reader differ");
    std::vector<ir::BlockPlacement> devices = reader.placements;
    std::erase_if(devices, std::not_fn(is_on_devices));
    expect(Obligation::transfer, devices == moves.placements, "the devices of the transfer and its reader differ");
    std::vector<ir::Projection> required;
    for (const ir::Access& read : its.reads)
      if (read.tensor == t) required.push_back(read.projection);
    if (its.region() && its.region()->kind != ir::RegionKind::group) {
      const Shape& all = op.operands[0].shape;
      required = {{{op.dims.size(), std::vector<AffineExpr>(all.size(), number(op.dims.size(), 0))}, all}};
    }
    for (const ir::Projection& p : required)
      expect(Obligation::reads_covered, std::ranges::count(op.reads, p, &ir::Access::projection) > 0,
             "the transfer does not cover operand {} of its reader", t);
  }
}

}  // namespace tap::check
