// Small programs made by hand, for the tests of the graph.
#pragma once

#include <ctime>
#include <functional>

#include "ir/graph.h"

namespace tap::ir::samples {

inline Access cell_access(std::uint32_t tensor, std::size_t dims, std::vector<AffineExpr> rows) {
  Access access;
  access.tensor = tensor;
  access.projection.shape = Shape(rows.size(), 1);
  access.projection.start = {dims, std::move(rows)};
  return access;
}

// y[i, o] = sum[k] x[i, k] * w[k, o]
inline Operator matmul(MonoidId sum, std::int64_t n, std::int64_t m, std::int64_t l) {
  Operator op;
  op.name = "matmul";
  op.dims = {{"i", {0, n}}, {"o", {0, m}}, {"k", {0, l}, DimRole::reduction}};
  op.operands = {{ElementType::f32, {n, l}}, {ElementType::f32, {l, m}}};
  op.results = {{ElementType::f32, {n, m}}};
  auto var = [](std::size_t d) { return AffineExpr::variable(3, d); };
  op.reads = {cell_access(0, 3, {var(0), var(2)}), cell_access(1, 3, {var(2), var(1)})};
  op.writes = {cell_access(0, 3, {var(0), var(1)})};
  CellId x = op.exprs.read(0, ElementType::f32), w = op.exprs.read(1, ElementType::f32);
  op.body = ReduceBody{sum, {op.exprs.apply(CellOp::mul, ElementType::f32, {x, w})}};
  op.operand_names = {"x", "w"};
  op.result_names = {"y"};
  return op;
}

// y[i] = f(x0[i], x1[i], …) over f32[n], with the function given.
template <class Function>
Operator pointwise(std::string name, std::size_t operands, std::int64_t n, Function f) {
  Operator op;
  op.name = std::move(name);
  op.dims = {{"i", {0, n}}};
  op.operands.assign(operands, {ElementType::f32, {n}});
  op.results = {{ElementType::f32, {n}}};
  std::vector<CellId> reads;
  for (std::uint32_t k = 0; k < operands; ++k) {
    op.reads.push_back(cell_access(k, 1, {AffineExpr::variable(1, 0)}));
    reads.push_back(op.exprs.read(k, ElementType::f32));
  }
  op.writes = {cell_access(0, 1, {AffineExpr::variable(1, 0)})};
  op.body = MapBody{{f(op.exprs, reads)}};
  return op;
}
inline Operator unary(CellOp function, std::int64_t n = 4) {
  return pointwise(std::string(info(function).name), 1, n, [function](CellExprs& exprs, const std::vector<CellId>& x) {
    return exprs.apply(function, ElementType::f32, {x[0]});
  });
}
inline Operator binary(CellOp function, std::int64_t n = 4) {
  return pointwise(std::string(info(function).name), 2, n, [function](CellExprs& exprs, const std::vector<CellId>& x) {
    return exprs.apply(function, ElementType::f32, {x[0], x[1]});
  });
}

// Builds one graph of f32[n] values, call by call.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::int64_t n = 4) : n_(n), interner_(program_) {
    program_.graphs.emplace_back().name = "main";
    program_.main = GraphId(0);
  }
  ValueId value(std::string name) {
    graph().values.push_back({std::move(name), {ElementType::f32, {n_}}, false, {}});
    return ValueId(graph().values.size() - 1);
  }
  ValueId input(std::string name) {
    ValueId v = value(std::move(name));
    graph().inputs.push_back(v);
    return v;
  }
  ValueId call(Operator op, std::vector<ValueId> operands, std::string name) {
    ValueId result = value(std::move(name));
    write(std::move(op), std::move(operands), {result});
    return result;
  }
  OperationId write(Operator op, std::vector<ValueId> operands, std::vector<ValueId> results) {
    OperatorId id = interner_.add(std::move(op));
    graph().operations.push_back({id, std::move(operands), std::move(results), {}});
    return OperationId(graph().operations.size() - 1);
  }
  Graph& graph() { return program_.graphs[0]; }
  Program& program() { return program_; }
  Interner& interner() { return interner_; }

 private:
  std::int64_t n_;
  Program program_;
  Interner interner_;
};

// Y = relu(X · W) by two operations on f32[4, 8] and f32[8, 2].
inline Program matmul_relu() {
  Program program;
  Interner interner(program);
  MonoidId sum = interner.add(*builtin_monoid("sum", ElementType::f32));
  Operator relu;
  relu.name = "relu";
  relu.dims = {{"i", {0, 4}}, {"j", {0, 2}}};
  relu.operands = relu.results = {{ElementType::f32, {4, 2}}};
  auto both = std::vector{AffineExpr::variable(2, 0), AffineExpr::variable(2, 1)};
  relu.reads = {cell_access(0, 2, both)};
  relu.writes = {cell_access(0, 2, both)};
  CellId zero = relu.exprs.constant(Scalar::zero(ElementType::f32));
  relu.body = MapBody{{relu.exprs.apply(CellOp::max, ElementType::f32, {relu.exprs.read(0, ElementType::f32), zero})}};

  Graph graph;
  graph.name = "mlp";
  graph.values = {{"X", {ElementType::f32, {4, 8}}},
                  {"W", {ElementType::f32, {8, 2}}, true},
                  {"H", {ElementType::f32, {4, 2}}},
                  {"Y", {ElementType::f32, {4, 2}}}};
  graph.inputs = {ValueId(0), ValueId(1)};
  graph.outputs = {ValueId(3)};
  graph.operations = {{interner.add(matmul(sum, 4, 2, 8)), {ValueId(0), ValueId(1)}, {ValueId(2)}, {}},
                      {interner.add(relu), {ValueId(2)}, {ValueId(3)}, {}}};
  program.graphs.push_back(std::move(graph));
  program.main = GraphId(0);
  return program;
}

// Of the processor, whatever else the machine does.
inline double seconds_of(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace tap::ir::samples
