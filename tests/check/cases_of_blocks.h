// Steps that cut: into blocks, partials, scans and a carry, folds; and what is moved then.
#pragma once

#include "passes/rebuild.h"
#include "passes/rewrites/offer_choices.h"
#include "passes/splits/apply_splits.h"
#include "passes/splits/realise.h"
#include "support/check.h"
#include "tests/check/case.h"
#include "tests/ir/monoids.h"

namespace tap::check::cases {

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
// An outside kernel that reduces: (y[i, 0..2], z[i, 0..2]) of x[i, k], by a monoid of two components.
inline Case partials_of_a_kernel() {
  Program p;
  BuildGraph g{p, {}};
  auto x = g.input("x", i64, {n, 6});
  Build b("outside");
  auto i = b.parallel("i", n), k = b.reduction("k", 6);
  auto in = b.operand(i64, {n, 6});
  b.read(in, {b[i], b[k]});
  for (int component = 0; component < 2; ++component) {
    b.result(i64, {n, 2}, {b[i], at_constant(0)});
    b.op.writes.back().projection.shape[1] = 2;
  }
  b.op.exprs = {};
  b.op.body = KernelBody{"outside", {}, add_monoid(p, affine_composition(i64))};
  auto results = g.add(b.op, {x});
  g.graph.values[1].name = "y";
  finish(p, g, results);
  return split_by("partials of a kernel", p, {{"y", "k", Blocks{3, {0, 1, 4, 6}}}});
}
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
  PlannedSplit y{"y", "i", Blocks{4}, Placement::mesh_axis, "m", AxisName{"d", {}}}, z = y;
  z.operation = "z";
  Program placed = split_by("placed", p, {y, z}).after;
  passes::RealiseResult result = passes::realise(placed);
  TAP_CHECK(!result.step.graphs.empty(), "nothing is moved in a test");
  return {"moved", placed, result.program, result.step};
}

// y[2 i + r] = prod[k] x[i, k] + r, in a staging buffer first, so that blocks of r are boxes.
inline Case staged() {
  Program p;
  p.meshes = {{"m", {{"d", 2}}, {}}};
  BuildGraph g{p, {}};
  auto x = g.input("x", i64, {n, 6});
  Build b("between");
  auto i = b.parallel("i", n), r = b.parallel("r", 2), k = b.reduction("k", 6);
  auto in = b.operand(i64, {n, 6});
  b.result(i64, {2 * n}, {2 * b[i] + b[r]});
  CellId operand = b.apply(CellOp::add, {b.read(in, {b[i], b[k]}), b.index(r)});
  auto y = g.add(b.reduce(add_monoid(p, "max", i64), {operand}), {x});
  g.graph.values[1].name = "y";
  finish(p, g, y);
  Plan plan;
  plan.decisions.push_back(PlannedSplit{"y", "r", Blocks{2}, Placement::mesh_axis, "m", AxisName{"d", {}}});
  passes::SplitResult result = passes::apply_splits(p, plan);
  TAP_CHECK(result.problems.empty() && result.steps.size() == 2, "what lies between in a test cannot be staged");
  return {"staged", p, result.stages[0], result.steps[0]};
}

// … on devices that are listed.
inline Case moved_on_lists() {
  Program p = reduction("sum");
  PlannedSplit y{"y", "i", Blocks{4}, Placement::devices}, z = y;
  y.devices = {{0, 1}, {5}, {3}, {2}};
  z.devices = {{3}, {2}, {1}, {0}};
  z.operation = "z";
  Program placed = split_by("placed", p, {y, z}).after;
  passes::RealiseResult result = passes::realise(placed);
  TAP_CHECK(!result.step.graphs.empty(), "nothing is moved in a test");
  return {"moved on lists", placed, result.program, result.step};
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
  CellId is_maximum = f.apply(CellOp::select, i64, {same, one, zero});
  m.fold->roots = {most, reduce(sum, f.apply(CellOp::mul, i64, {is_maximum, x[1]})),
                   reduce(sum, f.apply(CellOp::mul, i64, {is_maximum, x[2]}))};
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
  // The alternative in blocks, as if a step had made it of the program.
  passes::PassResult offered = passes::offer_choices(p, {});
  TAP_CHECK(offered.step.alternatives.size() >= 2, "nothing is folded in a test");
  GraphClaim claim = offered.step.alternatives[1].claim;
  Program after = std::move(offered.program);
  after.main = claim.after;
  claim.after = passes::remove_unreachable(after)[claim.after.index()];
  claim.before = p.main;
  return {"folded", p, after, {"by_hand", {}, {}, {claim}}};
}

}  // namespace tap::check::cases
