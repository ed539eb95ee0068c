#include "passes/rewrites/contraction_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "passes/simplify/cell_facts.h"

namespace tap::passes {

using namespace ir;

namespace {

class TreeBuilder {
 public:
  TreeBuilder(const Program& program, const Operator& op, const ContractionProduct& q, const ContractionTree& tree)
      : op_(op), q_(q), tree_(tree), steps_(steps_of(q.problem, tree)) {
    if (op.reduce()) program_.monoids.push_back(program[op.reduce()->monoid]);
  }

  ContractionGraph run() {
    for (std::size_t k = 0; k < op_.operands.size(); ++k) {
      std::string name = op_.operand_names.empty() ? fmt::format("x{}", k) : op_.operand_names[k];
      graph_.inputs.push_back(add_value(std::move(name), op_.operands[k]));
    }
    for (std::uint32_t n = 0; n < tree_.nodes.size(); ++n) {
      const ContractionNode& node = tree_.nodes[n];
      values_.emplace_back();
      if (!node.leaf) step(n, {node.left, node.right});
      else if (node.prepared) step(n, {n});
    }
    graph_.name = "contraction";
    graph_.outputs = {values_.back()};
    program_.graphs.push_back(std::move(graph_));
    program_.main = GraphId(0);
    return {std::make_shared<Program>(std::move(program_)), text(static_cast<std::uint32_t>(tree_.nodes.size() - 1)),
            std::move(dims_)};
  }

 private:
  // With the operands' names.
  std::string text(std::uint32_t n) const {
    const ContractionNode& node = tree_.nodes[n];
    if (!node.leaf) return "(" + text(node.left) + " " + text(node.right) + ")";
    std::string names;
    for (CellId id : needed_cells(op_, {q_.factors[node.factor]})) {
      if (op_.exprs[id].op != CellOp::read) continue;
      std::uint32_t k = op_.reads[op_.exprs[id].attribute].tensor;
      if (!names.empty()) names += ",";
      names += op_.operand_names.empty() ? fmt::format("x{}", k) : op_.operand_names[k];
    }
    if (names.empty()) names = "1";
    return node.prepared ? "[" + names + "]" : names;
  }

  ValueId add_value(std::string name, TensorType type) {
    graph_.values.push_back({std::move(name), std::move(type)});
    return ValueId(graph_.values.size() - 1);
  }

  // One operation: the product of these nodes, over the step's dims.
  void step(std::uint32_t n, const std::vector<std::uint32_t>& children) {
    const bool last = n + 1 == tree_.nodes.size();
    Operator op;
    op.name = last ? op_.name : "product";
    new_dim_.assign(op_.dims.size(), 0);
    copied_.clear();
    dims_.emplace_back();
    for (std::uint32_t d = 0; d < op_.dims.size(); ++d) {
      if (!(steps_[n].over >> d & 1)) continue;
      new_dim_[d] = static_cast<std::uint32_t>(op.dims.size());
      op.dims.push_back(op_.dims[d]);
      dims_.back().push_back(d);
      op.dims.back().role = steps_[n].result >> d & 1 ? DimRole::parallel : DimRole::reduction;
    }
    Operation operation;
    CellId product;
    for (std::uint32_t child : children) {
      const bool is_factor_read = tree_.nodes[child].leaf && (child == n || !tree_.nodes[child].prepared);
      CellId cell = is_factor_read ? copy(q_.factors[tree_.nodes[child].factor], op, operation)
                                   : whole(child, op, operation);
      product = product.valid() ? op.exprs.apply(q_.times, op.exprs[cell].type, {product, cell}) : cell;
    }
    const ElementType type = op.exprs[product].type;
    const bool reduces =
        std::any_of(op.dims.begin(), op.dims.end(), [](auto& d) { return d.role == DimRole::reduction; });
    if (last) op.results = op_.results, op.writes = {moved(op_.writes[0], op, operation)};
    else intermediate(op, type, steps_[n].result);
    op.body = reduces ? Body(ReduceBody{MonoidId(0), {product}}) : Body(MapBody{{product}});
    values_[n] = add_value(last ? "y" : fmt::format("t{}", made_++), op.results[0]);
    operation.results = {values_[n]};
    operation.op = OperatorId(program_.operators.size());
    program_.operators.push_back(std::move(op));
    graph_.operations.push_back(std::move(operation));
  }

  // The type and the access of a step's result: an axis for each dim, in order.
  Access axes(const Operator& op, std::uint64_t dims, Shape& shape) const {
    Access access;
    access.projection.start.inputs = op.dims.size();
    for (std::uint32_t d = 0; d < op_.dims.size(); ++d) {
      if (!(dims >> d & 1)) continue;
      shape.push_back(op_.dims[d].range.hi);
      access.projection.start.rows.push_back(AffineExpr::variable(op.dims.size(), new_dim_[d]));
      access.projection.shape.push_back(1);
    }
    return access;
  }
  void intermediate(Operator& op, ElementType type, std::uint64_t dims) const {
    Shape shape;
    op.writes = {axes(op, dims, shape)};
    op.results = {{type, shape}};
  }
  CellId whole(std::uint32_t child, Operator& op, Operation& operation) const {
    Shape shape;
    Access read = axes(op, steps_[child].result, shape);
    const ElementType type = graph_[values_[child]].type.element;
    read.tensor = operand(values_[child], op, operation);
    op.reads.push_back(std::move(read));
    return op.exprs.read(static_cast<std::uint32_t>(op.reads.size() - 1), type);
  }
  std::uint32_t operand(ValueId value, Operator& op, Operation& operation) const {
    auto known = std::find(operation.operands.begin(), operation.operands.end(), value);
    if (known != operation.operands.end()) return static_cast<std::uint32_t>(known - operation.operands.begin());
    op.operands.push_back(graph_[value].type);
    operation.operands.push_back(value);
    return static_cast<std::uint32_t>(operation.operands.size() - 1);
  }

  // A factor of the operator, in the dims of the step.
  CellId copy(CellId root, Operator& op, Operation& operation) {
    if (auto known = copied_.find(root); known != copied_.end()) return known->second;
    CellNode node = op_.exprs[root];
    for (CellId& arg : node.args) arg = copy(arg, op, operation);
    if (node.op == CellOp::index) node.attribute = new_dim_[node.attribute];
    if (node.op == CellOp::read) {
      Access read = moved(op_.reads[node.attribute], op, operation);
      read.tensor = operand(graph_.inputs[op_.reads[node.attribute].tensor], op, operation);
      op.reads.push_back(std::move(read));
      node.attribute = static_cast<std::uint32_t>(op.reads.size() - 1);
    }
    return copied_[root] = op.exprs.add(std::move(node));
  }
  Access moved(Access access, Operator& op, Operation& operation) {
    for (AffineExpr& row : access.projection.start.rows) {
      AffineExpr own = AffineExpr::constant(op.dims.size(), row.offset);
      for (std::size_t d = 0; d < row.coefficients.size(); ++d)
        if (row.coefficients[d] != 0) own.coefficients[new_dim_[d]] = row.coefficients[d];
      row = std::move(own);
    }
    access.projection.start.inputs = op.dims.size();
    for (auto& coordinate : access.coordinates)
      if (coordinate) coordinate = copy(*coordinate, op, operation);
    if (access.fill) access.fill = copy(*access.fill, op, operation);
    for (std::uint32_t& d : access.invariant_dims) d = new_dim_[d];
    return access;
  }

  const Operator& op_;
  const ContractionProduct& q_;
  const ContractionTree& tree_;
  std::vector<ContractionStep> steps_;
  Program program_;
  Graph graph_;
  int made_ = 0;
  std::vector<std::vector<std::uint32_t>> dims_;  // by operation
  std::vector<ValueId> values_;                   // by node; invalid for a leaf that is read directly
  std::vector<std::uint32_t> new_dim_;            // by dim of the operator: the step's dim
  std::map<CellId, CellId> copied_;               // into the step
};

}  // namespace

ContractionGraph graph_of(const Program& program, const Operator& op, const ContractionProduct& product,
                          const ContractionTree& tree) {
  return TreeBuilder(program, op, product, tree).run();
}

}  // namespace tap::passes
