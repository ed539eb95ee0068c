#include "passes/splits/split_graph.h"

#include "ir/graph.h"
#include "passes/operator_edit.h"
#include "passes/splits/place_on_mesh.h"
#include "passes/splits/split_operator.h"

namespace tap::passes {

using namespace ir;

namespace {

// Pre: the mesh axis that it names exists (why_not_over_axis).
void place_blocks(const Program& program, Operation& operation, std::uint32_t dim, const PlannedSplit& split) {
  if (split.placement == Placement::unspecified) return;
  BlockPlacement placed{dim, split.placement, {}, {}, split.devices, split.all_at.value_or(0)};
  if (split.axis) {
    const MeshAxisRef ref = named_axis(program, split).value();
    placed.mesh = ref.mesh;
    placed.axis = ref.axis;
  }
  operation.placements.push_back(std::move(placed));
}

}  // namespace

GraphSplitter::GraphSplitter(Program& program, Interner& interner, GraphId id)
    : program_(program), interner_(interner), id_(id), before_(program[id]), after_(before_) {
  after_.operations.clear();
  after_.splits.clear();
  claim_.after = claim_.before = id;
  for (std::size_t v = 0; v < before_.values.size(); ++v) claim_.values.push_back(ValueRef{{}, ValueId(v)});
  for (const Value& value : before_.values) names_.insert(value.name);
}

void GraphSplitter::copy(OperationId o, const std::map<ValueId, ValueId>& replaced) {
  after_.operations.push_back(before_[o]);
  for (ValueId& v : after_.operations.back().operands)
    if (auto found = replaced.find(v); found != replaced.end()) v = found->second;
  claim_.operations.push_back(Copied{{{}, o}});
}

ValueId GraphSplitter::add_copy(ValueId of) {
  const ValueId copy = add_value(before_[of].name + ".part", before_[of].type);
  claim_.values[copy.index()] = ValueRef{{}, of};
  Operation operation{{}, {of}, {copy}, {}};
  interner_.assign(operation, copy_operator(before_[of].type));
  after_.operations.push_back(std::move(operation));
  claim_.operations.push_back(WholeCopy{});
  return copy;
}

void GraphSplitter::place_all(OperationId o, const PlannedSplit& split) {
  copy(o);
  place_blocks(program_, after_.operations.back(), whole_operation, split);
}

std::optional<std::string> GraphSplitter::split(OperationId o, std::uint32_t dim, const PlannedSplit& split) {
  Operation operation = before_[o];
  const bool streamed = streams(program_[operation.op], dim, split);
  const bool may_scan = operation.placements.empty();
  BlockedOperator& blocked = blocked_[{operation.op, dim}];
  if (!blocked.is_for(program_, operation, split.blocks, streamed)) {
    const Operator op = with_author_names(program_, operation);
    if (auto scan = may_scan ? split_scan(program_, op, dim, split.blocks) : std::nullopt) {
      split_into_scan(o, *scan, split);
      return std::nullopt;
    }
    if (op.dims[dim].role == DimRole::reduction && !streamed) return split_into_partials(o, dim, split);
    const Operator made = split_dim(op, dim, split.blocks, streamed);
    interner_.assign(operation, made);
    blocked = {may_scan, op.dim_names(), split.blocks, streamed, operation.op, made.dim_names()};
  } else {
    const std::string& name = own_name(program_[operation.op], operation.names);
    operation.names = names_if_different(program_[blocked.op], {name, blocked.dims});
    operation.op = blocked.op;
  }
  if (!streamed)
    place_blocks(program_, operation, static_cast<std::uint32_t>(program_[operation.op].dims.size() - 1), split);
  after_.operations.push_back(std::move(operation));
  claim_.operations.push_back(BlockedFrom{{{}, o}});
  return std::nullopt;
}

// Operations of a split scan: local, totals, carry, combined.
void GraphSplitter::split_into_scan(OperationId o, const SplitScan& parts, const PlannedSplit& split) {
  const Operation& operation = before_[o];
  const std::string base = before_[operation.results[0]].name;
  auto add = [&](const Operator& op, std::vector<ValueId> operands, const char* suffix) {
    Operation made{{}, std::move(operands), {}, {}};
    interner_.assign(made, op);
    for (const TensorType& type : op.results) made.results.push_back(add_value(base + suffix, type));
    after_.operations.push_back(std::move(made));
    return OperationId(after_.operations.size() - 1);
  };
  OperationId local = add(parts.local, operation.operands, ".local");
  OperationId totals = add(parts.totals, operation.operands, ".totals");
  OperationId carry = add(parts.carry, after_[totals].results, ".carry");
  std::vector<ValueId> operands = after_[carry].results;
  operands.insert(operands.end(), after_[local].results.begin(), after_[local].results.end());
  Operation combined{{}, operands, operation.results, {}};
  interner_.assign(combined, parts.combined);
  place_blocks(program_, after_.operations[local.index()], parts.local_block, split);
  place_blocks(program_, after_.operations[totals.index()], parts.totals_block, split);
  place_blocks(program_, combined, parts.combined_block, split);
  after_.operations.push_back(std::move(combined));
  claim_.operations.push_back(LocalScanOf{{{}, o}});
  claim_.operations.push_back(TotalsOf{{{}, o}});
  claim_.operations.push_back(CarryOf{{{}, o}, totals});
  claim_.operations.push_back(CarriedScanOf{{{}, o}, carry, local});
}

bool GraphSplitter::streams(const Operator& op, std::uint32_t dim, const PlannedSplit& split) {
  return op.dims[dim].role == DimRole::reduction && split.placement == Placement::sequential && !op.kernel();
}

GraphClaim GraphSplitter::finish() {
  program_.graphs[id_.index()] = std::move(after_);
  return std::move(claim_);
}

std::string GraphSplitter::split_into_partials(OperationId o, std::uint32_t dim, const PlannedSplit& split) {
  const Operation& operation = before_[o];
  const Operator op = with_author_names(program_, operation);
  SplitReduction parts = split_reduction(program_, op, dim, split.blocks);
  const auto block_dim = static_cast<std::uint32_t>(op.dims.size());
  Operation partial{{}, operation.operands, {}, operation.operand_shardings};
  interner_.assign(partial, parts.partial);
  for (std::size_t w = 0; w < op.writes.size(); ++w)
    partial.results.push_back(
        add_value(before_[operation.results[op.writes[w].tensor]].name + ".partial", parts.partial.results[w]));
  Operation combination{{}, partial.results, operation.results, {}};
  interner_.assign(combination, parts.combination);
  for (const BlockPlacement& p : operation.placements) {
    partial.placements.push_back(p);
    if (p.dim != whole_operation && parts.dim_in_combination.empty()) continue;
    combination.placements.push_back(p);
    if (p.dim != whole_operation) combination.placements.back().dim = parts.dim_in_combination[p.dim];
  }
  place_blocks(program_, partial, block_dim, split);
  OperationId first(after_.operations.size());
  after_.operations.push_back(std::move(partial));
  after_.operations.push_back(std::move(combination));
  claim_.operations.push_back(PartialOf{{{}, o}, dim, block_dim});
  claim_.operations.push_back(CombinationOf{{{}, o}, first});
  return after_[after_[first].results[0]].name;
}

std::string GraphSplitter::stage_interleaved_writes(OperationId o, const Operator& staged, const Operator& placed) {
  const Operation& operation = before_[o];
  Operation first{{}, operation.operands, {}, operation.operand_shardings};
  interner_.assign(first, staged);
  for (std::size_t w = 0; w < placed.writes.size(); ++w)
    first.results.push_back(
        add_value(before_[operation.results[placed.writes[w].tensor]].name + ".staged", staged.results[w]));
  Operation second{{}, first.results, operation.results, {}};
  interner_.assign(second, placed);
  second.placements = operation.placements;
  OperationId id(after_.operations.size());
  after_.operations.push_back(std::move(first));
  after_.operations.push_back(std::move(second));
  claim_.operations.push_back(StagedOf{{{}, o}});
  claim_.operations.push_back(PlacedFrom{{{}, o}, id});
  return after_[after_[id].results[0]].name;
}

ValueId GraphSplitter::add_value(const std::string& base, TensorType type) {
  std::string name = base;
  for (int n = 2; !names_.insert(name).second; ++n) name = base + std::to_string(n);
  after_.values.push_back({name, std::move(type)});
  claim_.values.push_back(std::nullopt);
  return ValueId(after_.values.size() - 1);
}

}  // namespace tap::passes
