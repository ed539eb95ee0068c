// Steps that inline calls, write out iterates and make groups.
#pragma once

#include "ir/graph.h"
#include "tests/check/case.h"

namespace tap::check::cases {

inline OperatorId add_region(Program& program, RegionBody body, std::vector<TensorType> operands,
                             std::vector<TensorType> results) {
  Operator op;
  op.name = "region";
  op.operands = std::move(operands);
  op.results = std::move(results);
  op.body = std::move(body);
  program.operators.push_back(std::move(op));
  return OperatorId(program.operators.size() - 1);
}

// y = f(x), f(x) = neighbours(3 * x), called and then written out.
inline Case inlined() {
  Case c = chain("inlined");
  TensorType type{i64, {n}};
  BuildGraph f{c.before, {}};
  auto fx = f.input("x", i64, {n});
  auto inner = f.add(scaled(3), {fx})[0];
  GraphId callee = f.finish(f.add(neighbours(), {inner}));
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n});
  auto y = g.value("y", type);
  g.graph.operations.push_back({add_region(c.before, {RegionKind::call, callee}, {type}, {type}), {x}, {y}, {}});
  finish(c.before, g, {y});
  BuildGraph h{c.after, {}};
  auto x2 = h.input("x", i64, {n});
  auto a2 = h.add(scaled(3), {x2})[0];
  finish(c.after, h, h.add(neighbours(), {a2}));
  Path call{PathStep(OperationId(0))};
  GraphClaim all = claim({value(0), ValueRef{call, ValueId(1), {}}, value(1)},
                         {Copied{{call, OperationId(0)}}, Copied{{call, OperationId(1)}}});
  all.before = c.before.main;
  c.step.graphs = {all};
  return c;
}

// v[i] = u[i - 1 else 0] + c[i] * t, the counter t read as a cell.
inline Operator with_counter(std::optional<Range> trips, std::int64_t factor, std::int64_t offset) {
  Build b("step");
  auto i = b.parallel("i", n);
  std::optional<std::uint32_t> t;
  if (trips) t = b.counter("t", *trips);
  auto u = b.operand(i64, {n}), c = b.operand(i64, {n});
  CellId left = b.read(u, {b[i] - 1}, b.literal(i64, 0)), own = b.read(c, {b[i]});
  CellId count = b.literal(i64, static_cast<double>(offset));
  if (t) {
    CellId product = b.apply(CellOp::mul, {b.index(*t), b.literal(i64, static_cast<double>(factor))});
    count = b.apply(CellOp::add, {product, count});
  }
  b.result(i64, {n}, {b[i]});
  return b.map({b.apply(CellOp::add, {left, b.apply(CellOp::mul, {own, count})})});
}
inline void add_iterate(Program& p, std::vector<std::pair<std::int64_t, std::int64_t>> counts, Range trips) {
  TensorType type{i64, {n}};
  BuildGraph f{p, {}};
  auto u = f.input("u", i64, {n}), c = f.input("c", i64, {n});
  for (auto [factor, offset] : counts) u = f.add(with_counter(trips, factor, offset), {u, c})[0];
  GraphId body = f.finish({u});
  BuildGraph g{p, {}};
  auto x = g.input("x", i64, {n}), z = g.input("z", i64, {n});
  auto y = g.value("y", type);
  g.graph.operations.push_back(
      {add_region(p, {RegionKind::iterate, body, trips}, {type, type}, {type}), {x, z}, {y}, {}});
  finish(p, g, {y});
}
// iterate 3, written out.
inline Case unrolled() {
  Case c = chain("unrolled");
  add_iterate(c.before, {{1, 0}}, {0, 3});
  BuildGraph h{c.after, {}};
  auto u = h.input("x", i64, {n}), z = h.input("z", i64, {n});
  Path path{PathStep(OperationId(0))};
  GraphClaim all = claim({value(0), value(1)}, {});
  for (std::int64_t s = 0; s < 3; ++s) {
    u = h.add(with_counter({}, 0, s), {u, z})[0];
    all.values.push_back(ValueRef{path, ValueId(2), s});
    all.operations.push_back(TripOf{{path, OperationId(0)}, s});
  }
  finish(c.after, h, {u});
  all.before = c.before.main;
  c.step.graphs = {all};
  return c;
}
// iterate 6 as iterate 3 of two steps each.
inline Case two_steps() {
  Case c = chain("two steps");
  add_iterate(c.before, {{1, 0}}, {0, 6});
  add_iterate(c.after, {{2, 0}, {2, 1}}, {0, 3});
  GraphClaim body = claim({ValueRef{{}, ValueId(0), 0}, ValueRef{{}, ValueId(1), 0}, ValueRef{{}, ValueId(2), 0},
                           ValueRef{{}, ValueId(2), 1}},
                          {TripOf{operation(0), 0}, TripOf{operation(0), 1}});
  body.steps = 2;
  GraphClaim main = claim({value(0), value(1), value(2)}, {Copied{operation(0)}});
  main.after = main.before = GraphId(1);
  c.step.graphs = {body, main};
  return c;
}

// t[i] = 3 * x[i], y = neighbours(t), as a group over i.
inline Case grouped() {
  Case c = chain("grouped");
  TensorType type{i64, {n}};
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n});
  auto t = g.add(scaled(3), {x})[0];
  finish(c.before, g, g.add(neighbours(), {t}));
  BuildGraph f{c.after, {}};
  auto fx = f.input("x", i64, {n});
  auto inner = f.add(scaled(3), {fx})[0];
  GraphId graph = f.finish(f.add(neighbours(), {inner}));
  Build b("group");
  auto i = b.parallel("i", n);
  auto operand = b.operand(i64, {n});
  b.result(i64, {n}, {b[i]});
  b.op.reads.push_back({operand, {{1, {AffineExpr{{1}, -1}}}, {3}}, {}, {}, {}});
  (void)i;
  b.op.body = RegionBody{RegionKind::group, graph, {}, {{0, 1, 0}}};
  BuildGraph h{c.after, {}};
  auto x2 = h.input("x", i64, {n});
  finish(c.after, h, h.add(b.op, {x2}));
  GraphClaim all = claim({value(0), value(2)}, {GroupOf{{operation(0), operation(1)}}});
  all.after = c.after.main;
  c.step.graphs = {all};
  return c;
}

}  // namespace tap::check::cases
