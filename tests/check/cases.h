// Steps of every kind, made by hand or by the passes, that the checker must accept: what its tests change.
#pragma once

#include "check/check.h"
#include "ir/program_hash.h"
#include "passes/apply_splits.h"
#include "passes/offer_choices.h"
#include "passes/pick_choices.h"
#include "passes/realise.h"
#include "support/check.h"
#include "tests/ir/build.h"

namespace tap::check::cases {

using namespace ir;
using namespace ir::test;

struct Case {
  std::string name;
  Program before, after;
  Step step;
};

// With the hashes computed anew, so that only the obligation itself can object.
inline Verdict verdict_of(const Case& c) {
  Step step = c.step;
  step.before = hash_of(c.before);
  step.after = hash_of(c.after);
  return check({{step}}, {{&c.before, step.before}, {&c.after, step.after}});
}
inline std::string refusals(const Verdict& verdict) {
  std::string text;
  for (const Finding& f : verdict.findings)
    if (f.standing == Standing::refused)
      text += std::string(name_of(f.obligation)) + " at " + f.where + ": " + f.detail + "\n";
  return text;
}
// The obligation that objects first; empty if none does.
inline std::string first_refusal(const Verdict& verdict) {
  for (const Finding& f : verdict.findings)
    if (f.standing == Standing::refused) return std::string(name_of(f.obligation));
  return "";
}

inline ValueRef value(std::uint32_t v) { return {{}, ValueId(v), {}}; }
inline OperationRef operation(std::uint32_t o) { return {{}, OperationId(o)}; }
inline GraphClaim claim(std::vector<std::optional<ValueRef>> values, std::vector<Justification> operations) {
  return {GraphId(0), GraphId(0), std::move(values), std::move(operations), {}};
}

inline constexpr std::int64_t n = 8;

// y[i] = f(x[i], …) over i64[8].
template <class F>
Operator pointwise(std::string name, std::size_t operands, F f) {
  Build b(std::move(name));
  auto i = b.parallel("i", n);
  std::vector<CellId> reads;
  for (std::size_t k = 0; k < operands; ++k) reads.push_back(b.read(b.operand(i64, {n}), {b[i]}));
  b.result(i64, {n}, {b[i]});
  return b.map({f(b, reads)});
}
inline Operator scaled(double by) {
  return pointwise("scaled", 1, [by](Build& b, auto& x) { return b.apply(CellOp::mul, {x[0], b.literal(i64, by)}); });
}
inline Operator sum_of_two() {
  return pointwise("plus", 2, [](Build& b, auto& x) { return b.apply(CellOp::add, {x[0], x[1]}); });
}
// y[i] = x[i - 1 else 0] + x[i + 1 else 0]
inline Operator neighbours() {
  Build b("neighbours");
  auto i = b.parallel("i", n);
  auto x = b.operand(i64, {n});
  auto zero = b.literal(i64, 0);
  auto left = b.read(x, {b[i] - 1}, zero), right = b.read(x, {b[i] + 1}, zero);
  b.result(i64, {n}, {b[i]});
  return b.map({b.apply(CellOp::add, {left, right})});
}

// A main graph over one input x: i64[8], with inner graphs before it.
inline Case chain(std::string name) { return {std::move(name), {}, {}, {"by_hand", {}, {}, {}}}; }
inline void finish(Program& p, BuildGraph& g, std::vector<ValueId> outputs) { p.main = g.finish(std::move(outputs)); }

inline Case copied() {
  Case c = chain("copied");
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n}), z = g.input("z", i64, {n});
  auto a = g.add(scaled(3), {x})[0], dead = g.add(scaled(5), {x})[0], b = g.add(neighbours(), {a})[0];
  (void)dead;
  finish(c.before, g, g.add(sum_of_two(), {b, z}));
  BuildGraph h{c.after, {}};
  auto x2 = h.input("x", i64, {n}), z2 = h.input("z", i64, {n});
  auto a2 = h.add(scaled(3), {x2})[0], b2 = h.add(neighbours(), {a2})[0];
  finish(c.after, h, h.add(sum_of_two(), {b2, z2}));
  c.step.graphs = {claim({value(0), value(1), value(2), value(4), value(5)},
                         {Copied{operation(0)}, Copied{operation(2)}, Copied{operation(3)}})};
  return c;
}

inline Case equal() {
  Case c = chain("equal operations");
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n});
  auto a = g.add(scaled(3), {x})[0], b = g.add(scaled(3), {x})[0], d = g.add(scaled(4), {x})[0];
  finish(c.before, g, {g.add(sum_of_two(), {a, b})[0], d});
  BuildGraph h{c.after, {}};
  auto x2 = h.input("x", i64, {n});
  auto a2 = h.add(scaled(3), {x2})[0], d2 = h.add(scaled(4), {x2})[0];
  finish(c.after, h, {h.add(sum_of_two(), {a2, a2})[0], d2});
  c.step.graphs = {claim({value(0), value(1), value(3), value(4)},
                         {Copied{operation(0)}, Copied{operation(2)}, Copied{operation(3)}})};
  c.step.graphs[0].equal = {{operation(0), operation(1)}};
  return c;
}

// y = (x * 1) + 0 is x
inline Case simplified() {
  Case c = chain("simplified");
  Operator op = pointwise("y", 2, [](Build& b, auto& x) {
    CellId product = b.apply(CellOp::mul, {x[0], b.literal(i64, 1)});
    return b.apply(CellOp::add, {b.apply(CellOp::add, {product, b.literal(i64, 0)}), x[1]});
  });
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n}), z = g.input("z", i64, {n});
  finish(c.before, g, g.add(op, {x, z}));
  BuildGraph h{c.after, {}};
  auto x2 = h.input("x", i64, {n}), z2 = h.input("z", i64, {n});
  finish(c.after, h, h.add(sum_of_two(), {x2, z2}));
  Simplified s{operation(0), op.exprs, {}};
  CellId read, product;
  for (std::size_t k = 0; k < op.exprs.size(); ++k) {
    if (op.exprs[CellId(k)].op == CellOp::read && op.exprs[CellId(k)].attribute == 0) read = CellId(k);
    if (op.exprs[CellId(k)].op == CellOp::mul) product = CellId(k);
  }
  s.uses = {{"a * 1 = a [integers, floats]", {read}}, {"a + 0 = a [integers]", {product}}};
  c.step.graphs = {claim({value(0), value(1), value(2)}, {s})};
  return c;
}

// h[i] = 3 * x[i]; y[i] = h[i + 1 else 7] + z[i]
inline Case composed() {
  Case c = chain("composed");
  auto build = [](bool after) {
    Build b("y");
    auto i = b.parallel("i", n);
    auto x = b.operand(i64, {n}), z = b.operand(i64, {n});
    CellId seven = b.literal(i64, 7), h;
    if (after) {
      CellId place = b.apply(CellOp::add, {b.index(i), b.literal(i64, 1)});
      CellId inside = b.apply(CellOp::less, {place, b.literal(i64, n)});
      CellId product = b.apply(CellOp::mul, {b.read(x, {b[i] + 1}), b.literal(i64, 3)});
      h = b.op.exprs.apply(CellOp::select, i64, {inside, product, seven});
    } else {
      h = b.read(x, {b[i] + 1}, seven);
    }
    b.result(i64, {n}, {b[i]});
    CellId other = b.read(z, {b[i]});
    return b.map({b.apply(CellOp::add, {h, other})});
  };
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n}), z = g.input("z", i64, {n});
  auto h = g.add(scaled(3), {x})[0], k = g.add(scaled(4), {x})[0];
  (void)k;
  finish(c.before, g, g.add(build(false), {h, z}));
  BuildGraph a{c.after, {}};
  auto x2 = a.input("x", i64, {n}), z2 = a.input("z", i64, {n});
  finish(c.after, a, a.add(build(true), {x2, z2}));
  c.step.graphs = {claim({value(0), value(1), value(4)}, {Composed{operation(2), {{0, operation(0), {}}}}})};
  return c;
}

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
    all.operations.push_back(StepOf{{path, OperationId(0)}, s});
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
                          {StepOf{operation(0), 0}, StepOf{operation(0), 1}});
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

// A reduction  y[i] = m[k] f(x[i, k])  and what splits it.
inline Program reduction(std::string_view monoid) {
  Program p;
  BuildGraph g{p, {}};
  auto x = g.input("x", i64, {n, 6});
  Build b("reduced");
  auto i = b.parallel("i", n), k = b.reduction("k", 6);
  auto in = b.operand(i64, {n, 6});
  b.result(i64, {n}, {b[i]});
  CellId operand = b.apply(CellOp::add, {b.read(in, {b[i], b[k]}), b.index(k)});
  auto y = g.add(b.reduce(add_monoid(p, monoid, i64), {operand}), {x})[0];
  p.graphs.reserve(1);
  g.graph.values[1].name = "y";
  auto z = g.add(neighbours(), {y})[0];
  g.graph.values[2].name = "z";
  finish(p, g, {z});
  return p;
}
inline Case split_by(std::string name, Program before, const std::vector<PlannedSplit>& splits) {
  Plan plan;
  for (const PlannedSplit& s : splits) plan.decisions.push_back(s);
  passes::SplitResult result = passes::apply_splits(before, plan);
  TAP_CHECK(result.problems.empty() && result.steps.size() == 1, "a split of a test cannot be");
  return {std::move(name), std::move(before), result.program, result.steps[0]};
}
inline Case blocked() {
  return split_by("blocked", reduction("sum"), {{"y", "i", Blocks{3}}, {"z", "i", Blocks{2, {0, 3, 8}}}});
}
inline Case partials() { return split_by("partials", reduction("max"), {{"y", "k", Blocks{3, {0, 1, 4, 6}}}}); }
inline Case walked() { return split_by("walked", reduction("prod"), {{"y", "k", Blocks{4}, Placement::sequential}}); }

// y[i] = m[k] x[k] where k <= i, forwards, or where k >= i + 1, backwards.
inline Case scanned(bool forward) {
  Program p;
  BuildGraph g{p, {}};
  auto x = g.input("x", i64, {n});
  Build b("running");
  auto i = b.parallel("i", n), k = b.reduction("k", n);
  auto in = b.operand(i64, {n});
  if (forward) b.require_at_least_zero(b[i] - b[k]);
  else b.require_at_least_zero(b[k] - b[i] - 1);
  CellId operand = b.read(in, {b[k]});
  b.result(i64, {n}, {b[i]});
  auto y = g.add(b.reduce(add_monoid(p, forward ? "sum" : "max", i64), {operand}), {x});
  g.graph.values[1].name = "y";
  finish(p, g, y);
  Blocks blocks = forward ? Blocks{3} : Blocks{3, {0, 1, 1, 8}};
  return split_by(forward ? "scan" : "scan backwards", p, {{"y", "i", blocks, Placement::threads}});
}
inline Case scan_forwards() { return scanned(true); }
inline Case scan_backwards() { return scanned(false); }

// y on four devices; z reads its neighbours there, too: a transfer stands between them.
inline Case moved() {
  Program p = reduction("sum");
  p.meshes = {{"m", {{"d", 4}}, {}}};
  PlannedSplit y{"y", "i", Blocks{4}, Placement::mesh_axis, "m", AxisRef{"d", {}}}, z = y;
  z.operation = "z";
  Program placed = split_by("placed", p, {y, z}).after;
  passes::RealiseResult result = passes::realise(placed);
  TAP_CHECK(!result.step.graphs.empty(), "nothing is moved in a test");
  return {"moved", placed, result.program, result.step};
}

// How often the greatest t occurs, and the sum of v where it does:  m = max t, e = (t == m), s = sum e * w, o = sum e * v.
inline MonoidId add_tally(Program& p) {
  MonoidId max = add_monoid(p, "max", i64), sum = add_monoid(p, "sum", i64);
  Monoid m;
  m.name = "tally";
  m.components = {{"m", i64}, {"s", i64}, {"o", i64}};
  CellId one, zero;
  auto arguments = [&](CellExprs& e) {
    std::vector<CellId> cells;
    for (std::uint32_t k = 0; k < (m.fold ? 3 : 6); ++k) cells.push_back(e.argument(k, i64));
    one = e.constant(Scalar::one(i64));
    zero = e.constant(Scalar::zero(i64));
    return cells;
  };
  CellExprs& e = m.exprs;
  std::vector<CellId> a = arguments(e);
  CellId greatest = e.apply(CellOp::max, i64, {a[0], a[3]});
  auto of = [&](CellId m_of, CellId value) {
    CellId same = e.apply(CellOp::equal, boolean, {m_of, greatest});
    return e.apply(CellOp::select, i64, {same, value, zero});
  };
  auto both = [&](std::size_t k) { return e.apply(CellOp::add, i64, {of(a[0], a[k]), of(a[3], a[k + 3])}); };
  m.combine = {greatest, both(1), both(2)};
  m.identity = {e.constant(Scalar::least(i64)), zero, zero};
  m.laws = {Law::proved, Law::proved, Law::proved, Law::proved};
  CellExprs& f = m.fold.emplace().exprs;
  std::vector<CellId> x = arguments(f);
  auto reduce = [&](MonoidId by, CellId cell) {
    return f.add({CellOp::reduce, i64, static_cast<std::uint32_t>(by.index()), {}, {cell}});
  };
  CellId most = reduce(max, x[0]), same = f.apply(CellOp::equal, boolean, {x[0], most});
  CellId here = f.apply(CellOp::select, i64, {same, one, zero});
  m.fold->roots = {most, reduce(sum, f.apply(CellOp::mul, i64, {here, x[1]})),
                   reduce(sum, f.apply(CellOp::mul, i64, {here, x[2]}))};
  p.monoids.push_back(m);
  return MonoidId(p.monoids.size() - 1);
}
// (m[i], s[i], o[i, c]) = tally[j] (t[i, j], 1, v[j, c]) for j <= i + 3, folded in blocks of 4 of the ten j.
inline Case folded() {
  Program p;
  BuildGraph g{p, {}};
  auto t = g.input("t", i64, {n, 10}), v = g.input("v", i64, {10, 3});
  Build b("tally");
  auto i = b.parallel("i", n), c = b.parallel("c", 3), j = b.reduction("j", 10);
  auto in = b.operand(i64, {n, 10}), values = b.operand(i64, {10, 3});
  b.require_at_least_zero(b[i] - b[j] + 3);
  b.result(i64, {n}, {b[i]}, {c});
  b.result(i64, {n}, {b[i]}, {c});
  b.result(i64, {n, 3}, {b[i], b[c]});
  CellId key = b.read(in, {b[i], b[j]}), value = b.read(values, {b[j], b[c]});
  auto results = g.add(b.reduce(add_tally(p), {key, b.literal(i64, 1), value}), {t, v});
  for (std::size_t k = 0; k < 3; ++k) g.graph.values[results[k].index()].name = std::string("mso").substr(k, 1);
  finish(p, g, results);
  passes::PassContext context;
  context.plan = {{PlannedChoice{"m", 2}}};
  Program offered = passes::offer_choices(p, context).program;
  passes::PassResult picked = passes::pick_choices(offered, context);
  TAP_CHECK(picked.problems.empty() && picked.program.operators.size() >= 5, "nothing is folded in a test");
  return {"folded", offered, picked.program, picked.step};
}

inline std::vector<Case> all() {
  std::vector<Case> cases;
  for (auto make : {copied, equal, simplified, composed, inlined, unrolled, two_steps, grouped, blocked, partials,
                    walked, scan_forwards, scan_backwards, moved, folded})
    cases.push_back(make());
  return cases;
}

}  // namespace tap::check::cases
