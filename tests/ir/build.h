// Builds operators and programs by hand, for tests.
//
//   Build b("y");
//   auto i = b.parallel("i", 4), k = b.reduction("k", 3);
//   auto x = b.operand(f32, {4, 3});
//   b.result(f32, {4}, {b[i]});
//   b.reduce(program, "sum", {b.read(x, {b[i], b[k]})});
#pragma once

#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/interpret/interpret.h"

namespace tap::ir::test {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline constexpr ElementType f64 = ElementType::f64, f32 = ElementType::f32, f16 = ElementType::f16,
                             bf16 = ElementType::bf16, i64 = ElementType::i64, i32 = ElementType::i32,
                             i16 = ElementType::i16, i8 = ElementType::i8, u8 = ElementType::u8,
                             boolean = ElementType::boolean;

// An affine expression that does not know the number of dims yet.
struct Linear {
  std::vector<std::pair<std::uint32_t, std::int64_t>> terms;
  std::int64_t offset = 0;
};
inline Linear operator*(std::int64_t factor, Linear e) {
  for (auto& term : e.terms) term.second *= factor;
  e.offset *= factor;
  return e;
}
inline Linear operator+(Linear a, const Linear& b) {
  a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
  a.offset += b.offset;
  return a;
}
inline Linear operator+(const Linear& a, std::int64_t n) { return a + Linear{{}, n}; }
inline Linear operator-(const Linear& a, const Linear& b) { return a + (-1) * b; }
inline Linear operator-(const Linear& a, std::int64_t n) { return a + -n; }
inline Linear at_constant(std::int64_t n) { return {{}, n}; }

class Build {
 public:
  explicit Build(std::string name) { op.name = std::move(name); }

  // Dims first: accesses know their number.
  std::uint32_t parallel(std::string name, std::int64_t n) { return dim({std::move(name), {0, n}, DimRole::parallel}); }
  std::uint32_t reduction(std::string name, std::int64_t n) {
    return dim({std::move(name), {0, n}, DimRole::reduction});
  }
  std::uint32_t counter(std::string name, Range trips, std::uint32_t level = 0) {
    return dim({std::move(name), trips, DimRole::counter, false, level});
  }
  std::uint32_t dim(IndexDim d) {
    op.dims.push_back(std::move(d));
    return static_cast<std::uint32_t>(op.dims.size() - 1);
  }
  Linear operator[](std::uint32_t d) const { return {{{d, 1}}, 0}; }

  std::uint32_t operand(ElementType type, Shape shape) {
    op.operands.push_back({type, std::move(shape)});
    return static_cast<std::uint32_t>(op.operands.size() - 1);
  }
  void require_at_least_zero(const Linear& e) { op.constraints.push_back({affine(e), Comparison::at_least_zero}); }
  void require_zero(const Linear& e) { op.constraints.push_back({affine(e), Comparison::equal_zero}); }

  CellId read(std::uint32_t tensor, const std::vector<Linear>& rows, std::optional<CellId> fill = {}) {
    return add_read({tensor, projection(rows), {}, fill, {}});
  }
  // Axis 0 is at `coordinate`; the other rows follow.
  CellId gather(std::uint32_t tensor, CellId coordinate, std::vector<Linear> rows, std::optional<CellId> fill = {}) {
    rows.insert(rows.begin(), at_constant(0));
    Access access{tensor, projection(rows), {coordinate}, fill, {}};
    access.projection.shape[0] = op.operands[tensor].shape[0];
    access.coordinates.resize(rows.size());
    return add_read(std::move(access));
  }
  void result(ElementType type, Shape shape, const std::vector<Linear>& rows,
              std::vector<std::uint32_t> invariant = {}) {
    op.writes.push_back(
        {static_cast<std::uint32_t>(op.results.size()), projection(rows), {}, {}, std::move(invariant)});
    op.results.push_back({type, std::move(shape)});
  }

  CellId index(std::uint32_t d) { return op.exprs.index(d); }
  CellId literal(ElementType type, double value) {
    return op.exprs.constant(is_float(type) ? Scalar::floating(type, value)
                                            : Scalar::integer(type, static_cast<std::int64_t>(value)));
  }
  CellId truth(bool value) { return op.exprs.constant(Scalar::boolean(value)); }
  // The type is that of the last argument; comparisons give bool.
  CellId apply(CellOp o, std::vector<CellId> args) {
    bool to_bool = tap::ir::info(o).kind == CellKind::comparison;
    ElementType type = to_bool ? boolean : op.exprs[args.back()].type;
    return op.exprs.apply(o, type, std::move(args));
  }
  CellId cast(CellId value, ElementType type) { return op.exprs.cast(value, type); }

  Operator map(std::vector<CellId> values) {
    op.body = MapBody{std::move(values)};
    return op;
  }
  Operator reduce(MonoidId monoid, std::vector<CellId> operands) {
    op.body = ReduceBody{monoid, std::move(operands)};
    return op;
  }

  Operator op;

 private:
  AffineExpr affine(const Linear& e) const {
    AffineExpr result = AffineExpr::constant(op.dims.size(), e.offset);
    for (auto [dim, coefficient] : e.terms) result.coefficients[dim] += coefficient;
    return result;
  }
  Projection projection(const std::vector<Linear>& rows) const {
    Projection p{{op.dims.size(), {}}, Shape(rows.size(), 1)};
    for (const Linear& row : rows) p.start.rows.push_back(affine(row));
    return p;
  }
  CellId add_read(Access access) {
    ElementType type = op.operands[access.tensor].element;
    op.reads.push_back(std::move(access));
    return op.exprs.read(static_cast<std::uint32_t>(op.reads.size() - 1), type);
  }
};

// A program with graphs; operations are added with new values for their results.
struct BuildGraph {
  Program& program;
  Graph graph;

  ValueId input(std::string name, ElementType type, Shape shape) {
    ValueId v = value(std::move(name), {type, std::move(shape)});
    graph.inputs.push_back(v);
    return v;
  }
  ValueId value(std::string name, TensorType type) {
    graph.values.push_back({std::move(name), std::move(type)});
    return ValueId(graph.values.size() - 1);
  }
  void write(Operator op, std::vector<ValueId> operands, std::vector<ValueId> results) {
    program.operators.push_back(std::move(op));
    graph.operations.push_back({OperatorId(program.operators.size() - 1), std::move(operands), std::move(results), {}});
  }
  std::vector<ValueId> add(Operator op, std::vector<ValueId> operands) {
    std::vector<ValueId> results;
    for (const TensorType& type : op.results) results.push_back(value(op.name, type));
    write(std::move(op), std::move(operands), results);
    return results;
  }
  GraphId finish(std::vector<ValueId> outputs) {
    graph.outputs = std::move(outputs);
    program.graphs.push_back(std::move(graph));
    return GraphId(program.graphs.size() - 1);
  }
};

inline MonoidId add_monoid(Program& program, std::string_view name, ElementType type) {
  program.monoids.push_back(builtin_monoid(name, type).value());
  return MonoidId(program.monoids.size() - 1);
}

inline MonoidId add_monoid(Program& program, Monoid monoid) {
  program.monoids.push_back(std::move(monoid));
  return MonoidId(program.monoids.size() - 1);
}

// y = op(x) over a vector.
inline Operator unary(CellOp op, const std::string& name) {
  Build b(name);
  auto i = b.parallel("i", 4);
  auto x = b.operand(f32, {4});
  b.result(f32, {4}, {b[i]});
  return b.map({b.apply(op, {b.read(x, {b[i]})})});
}

// c[i, j] = sum[k] x[i, k] * w[k, j] in f32, of an n×depth and a depth×m matrix
inline Operator matrix_product(Program& program, std::int64_t n, std::int64_t m, std::int64_t depth) {
  Build b("c");
  auto i = b.parallel("i", n), j = b.parallel("j", m), k = b.reduction("k", depth);
  auto x = b.operand(f32, {n, depth}), w = b.operand(f32, {depth, m});
  b.result(f32, {n, m}, {b[i], b[j]});
  CellId product = b.apply(CellOp::mul, {b.read(x, {b[i], b[k]}), b.read(w, {b[k], b[j]})});
  return b.reduce(add_monoid(program, "sum", f32), {product});
}

inline Tensor tensor(ElementType type, Shape shape, const std::vector<double>& values) {
  Tensor t(type, std::move(shape));
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (is_float(type)) t.store_f64(static_cast<std::int64_t>(k), values[k]);
    else t.store_i64(static_cast<std::int64_t>(k), static_cast<std::int64_t>(values[k]));
  }
  return t;
}
inline std::vector<double> values_of(const Tensor& t) {
  std::vector<double> values;
  for (std::int64_t k = 0; k < t.size(); ++k) values.push_back(t.load_f64(k));
  return values;
}

// A program of one operation.
inline InterpretResult evaluate(Program program, const Operator& op, const std::vector<Tensor>& inputs,
                                const InterpretOptions& options = {}) {
  BuildGraph g{program, {}};
  std::vector<ValueId> operands;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    operands.push_back(g.input("in" + std::to_string(k), op.operands[k].element, op.operands[k].shape));
  auto results = g.add(op, operands);
  GraphId main = g.finish(results);
  return interpret(program, main, inputs, options);
}

}  // namespace tap::ir::test
