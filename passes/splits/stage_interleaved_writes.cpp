#include "passes/splits/stage_interleaved_writes.h"

#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "passes/splits/requested_splits.h"
#include "passes/splits/split_graph.h"
#include "passes/splits/split_operator.h"

namespace tap::passes {

using namespace ir;

namespace {

bool is_reduced(const Operator& op, std::size_t dim) { return op.dims[dim].role == DimRole::reduction; }

bool can_stage_writes(const Operator& op) {
  auto of_reduced = [&](const Constraint& c) {
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (is_reduced(op, d) && c.expr.coefficients[d] != 0) return true;
    return false;
  };
  return (op.map() || op.reduce()) && op.blockings.empty() && std::ranges::all_of(op.constraints, of_reduced) &&
         std::ranges::none_of(op.dims, [](const IndexDim& d) { return d.role == DimRole::counter; });
}

// An affine expression over the dims that are not reduced.
AffineExpr over_parallel(const Operator& op, const AffineExpr& e) {
  AffineExpr result{{}, e.offset};
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (!is_reduced(op, d)) result.coefficients.push_back(e.coefficients[d]);
  return result;
}
Access over_parallel(const Operator& op, Access write) {
  std::uint32_t parallel = 0;
  std::vector<std::uint32_t> renumbered(op.dims.size());
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (!is_reduced(op, d)) renumbered[d] = parallel++;
  write.projection.start.inputs = parallel;
  for (AffineExpr& row : write.projection.start.rows) row = over_parallel(op, row);
  for (std::uint32_t& d : write.invariant_dims) d = renumbered[d];
  return write;
}

struct Operators {
  Operator staged, placed;
};

// Pre: can_stage_writes(op).
Operators operators_for(const Operator& op) {
  Operators made{op, {}};
  auto& [staged, placed] = made;
  staged.results.clear();
  staged.writes.clear();
  staged.result_names.clear();
  placed.name = op.name;
  for (const IndexDim& dim : op.dims)
    if (dim.role != DimRole::reduction) placed.dims.push_back(dim);
  placed.results = op.results;
  placed.result_names = op.result_names;
  MapBody body;
  for (std::uint32_t w = 0; w < op.writes.size(); ++w) {
    const Access& write = op.writes[w];
    Access own = write;
    own.tensor = w;
    own.projection = {{op.dims.size(), {}}, {}};
    TensorType type{op.results[write.tensor].element, {}};
    for (std::size_t d = 0; d < op.dims.size(); ++d) {
      const auto& rows = write.projection.start.rows;
      if (std::ranges::none_of(rows, [d](const AffineExpr& row) { return row.coefficients[d] != 0; })) continue;
      AffineExpr position = AffineExpr::variable(op.dims.size(), d);
      position.offset = -op.dims[d].range.lo;
      own.projection.start.rows.push_back(std::move(position));
      own.projection.shape.push_back(1);
      type.shape.push_back(op.dims[d].range.size());
    }
    if (!op.result_names.empty()) staged.result_names.push_back(op.result_names[write.tensor]);
    Access read = over_parallel(op, own);
    read.invariant_dims.clear();
    placed.reads.push_back(std::move(read));
    placed.writes.push_back(over_parallel(op, write));
    body.values.push_back(placed.exprs.read(w, type.element));
    staged.results.push_back(std::move(type));
    staged.writes.push_back(std::move(own));
  }
  placed.operands = staged.results;
  if (!op.result_names.empty()) placed.operand_names = staged.result_names;
  placed.body = std::move(body);
  return made;
}

}  // namespace

std::optional<StagedWrites> stage_interleaved_writes(const Program& program, const Plan& plan,
                                                     const std::set<std::string>& operations) {
  StagedWrites made{program, {"stage_interleaved_writes"}, plan};
  for (Graph& graph : made.program.graphs) graph.splits.clear();
  OperationFinder finder(program);
  std::map<GraphId, std::map<OperationId, std::string>> names;
  for (const std::string& name : operations) {
    const auto location = finder.find(program.main, name);
    if (!location || is_inside_of_a_group(program, location->graph)) return std::nullopt;
    const Operator op = with_author_names(program, program[location->graph][location->operation]);
    if (!can_stage_writes(op)) return std::nullopt;
    names[location->graph][location->operation] = name;
  }
  Interner interner(made.program);
  std::map<std::string, std::string> renamed;
  for (const auto& [graph, own] : names) {
    GraphSplitter splitter(made.program, interner, graph);
    for (std::size_t o = 0; o < program[graph].operations.size(); ++o) {
      auto found = own.find(OperationId(o));
      if (found == own.end()) {
        splitter.copy(OperationId(o));
        continue;
      }
      const Operators operators = operators_for(with_author_names(program, program[graph].operations[o]));
      const std::string value = splitter.stage_interleaved_writes(OperationId(o), operators.staged, operators.placed);
      renamed[found->second] = found->second.substr(0, found->second.rfind('/') + 1) + value;
    }
    made.step.graphs.push_back(splitter.finish());
  }
  for (Decision& decision : made.plan.decisions)
    if (auto* split = std::get_if<PlannedSplit>(&decision); split && renamed.contains(split->operation)) {
      const OperationInGraph location = *finder.find(program.main, split->operation);
      split->dim = named_dim(program, program[location.graph][location.operation], program[location.graph], *split);
      split->operation = renamed.at(split->operation);
    }
  return made;
}

}  // namespace tap::passes
