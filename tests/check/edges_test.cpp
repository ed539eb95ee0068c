// Where a rule of the checker ends: what is right up to an edge, and wrong by one behind it.
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "passes/splits/split_graph.h"
#include "tests/check/cases.h"
#include "tests/check/cases_of_blocks.h"
#include "tests/ir/monoids.h"

namespace tap::check {
namespace {

using namespace cases;

// y[i] = sum[k] x[k] where k <= i + shift (k >= i + shift, backwards), in blocks of i that begin at 0, 3 and 5, and of k that
// begin at 0, `second` and `third`.
std::string refusal_of_scan(bool forward, std::int64_t shift, std::int64_t second, std::int64_t third) {
  Program p;
  BuildGraph g{p, {}};
  auto x = g.input("x", i64, {n});
  Build b("running");
  auto i = b.parallel("i", n), k = b.reduction("k", n);
  auto in = b.operand(i64, {n});
  if (forward) b.require_at_least_zero(b[i] - b[k] + shift);
  else b.require_at_least_zero(b[k] - b[i] - shift);
  CellId operand = b.read(in, {b[k]});
  b.result(i64, {n}, {b[i]});
  auto y = g.add(b.reduce(add_monoid(p, "sum", i64), {operand}), {x});
  g.graph.values[1].name = "y";
  finish(p, g, y);
  Case c = split_by("scan", p, {{"y", "i", Blocks{3, {0, 3, 5, 8}}, Placement::threads}});
  for (Operator& op : c.after.operators)
    for (Blocking& blocking : op.blockings)
      if (op.dims[blocking.dim].role == DimRole::reduction) blocking.blocks = Blocks{3, {0, second, third, n}};
  const Verdict verdict = verdict_of(c);
  return first_refusal(verdict) + (verdict.refused() ? "" : "accepted");
}

TEST(Edges, UnevenBlocksOfAScan) {
  // A block's first point sees all terms before its own: those of k <= 3 for the block of i that begins at 3.
  EXPECT_EQ(refusal_of_scan(true, 0, 4, 5), "accepted");
  EXPECT_EQ(refusal_of_scan(true, 0, 5, 5), "scan");
  // Its last one sees none behind its own: 2 is the last point of the first block, and sees the term 2.
  EXPECT_EQ(refusal_of_scan(true, 0, 3, 6), "accepted");
  EXPECT_EQ(refusal_of_scan(true, 0, 2, 5), "scan");
  EXPECT_EQ(refusal_of_scan(false, 0, 2, 5), "accepted");
  EXPECT_EQ(refusal_of_scan(false, 0, 1, 5), "scan");
  EXPECT_EQ(refusal_of_scan(false, 0, 3, 4), "accepted");
  EXPECT_EQ(refusal_of_scan(false, 0, 4, 5), "scan");
  // Bounds behind the terms' ends ask for no more than there are.
  EXPECT_EQ(refusal_of_scan(true, 2, 5, 7), "accepted");
  EXPECT_EQ(refusal_of_scan(true, 2, 4, 7), "scan");
  EXPECT_EQ(refusal_of_scan(true, -3, 0, 2), "accepted");
  EXPECT_EQ(refusal_of_scan(true, -3, 0, 1), "scan");
  EXPECT_EQ(refusal_of_scan(false, 3, 6, 8), "accepted");
  EXPECT_EQ(refusal_of_scan(false, 3, 4, 8), "scan");
}

// k is streamed in blocks, each of which is split once more: a partial then has a part of every block, not one run of terms.
std::string refusal_of_partials_of_a_walk(Law commutative, bool walk) {
  Case c = chain("partials of a walk");
  Program p = reduction("max");
  p.monoids[0].laws.commutative = commutative;
  if (walk) p = split_by("walked", p, {{"y", "k", Blocks{3}, Placement::sequential}}).after;
  c.before = p;
  c.after = p;
  Interner interner(c.after);
  passes::GraphSplitter splitter(c.after, interner, p.main);
  splitter.split(OperationId(0), 1, {"y", "k", Blocks{2}, Placement::threads});
  splitter.copy(OperationId(1));
  c.step.graphs = {splitter.finish()};
  const Verdict verdict = verdict_of(c);
  return first_refusal(verdict) + (verdict.refused() ? "" : "accepted");
}

TEST(Edges, PartialsOfAStreamAreOutOfOrder) {
  // No pass makes these: the verifier refuses blocks of a walk that are split once more. The law is demanded before that.
  EXPECT_EQ(refusal_of_partials_of_a_walk(Law::proved, true), "well-formed");
  EXPECT_EQ(refusal_of_partials_of_a_walk(Law::broken, true), "laws");
  EXPECT_EQ(refusal_of_partials_of_a_walk(Law::broken, false), "accepted");
}

// y[i] = m[k, l] …: partials by l are out of order, those by k are not.
std::string refusal_of_partials_of(std::uint32_t dim) {
  Case c = chain("partials of two dims");
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n, 4, 6});
  Build b("reduced");
  auto i = b.parallel("i", n), k = b.reduction("k", 4), l = b.reduction("l", 6);
  auto in = b.operand(i64, {n, 4, 6});
  b.result(i64, {n}, {b[i]});
  CellId operand = b.read(in, {b[i], b[k], b[l]});
  MonoidId monoid = add_monoid(c.before, "max", i64);
  c.before.monoids[monoid.index()].laws.commutative = Law::broken;
  finish(c.before, g, g.add(b.reduce(monoid, {operand}), {x}));
  c.after = c.before;
  Interner interner(c.after);
  passes::GraphSplitter splitter(c.after, interner, c.before.main);
  splitter.split(OperationId(0), dim, {"y", "", Blocks{2}, Placement::threads});
  c.step.graphs = {splitter.finish()};
  const Verdict verdict = verdict_of(c);
  return first_refusal(verdict) + (verdict.refused() ? "" : "accepted");
}

TEST(Edges, PartialsOfAnInnerDimAreOutOfOrder) {
  EXPECT_EQ(refusal_of_partials_of(1), "accepted");
  EXPECT_EQ(refusal_of_partials_of(2), "laws");
}

// A block of which no term is left (j <= i + 3, in blocks of 4) is folded to what the reduction of nothing is.
TEST(Edges, EmptyFoldIsTheIdentity) {
  Case c = folded();
  EXPECT_EQ(refusals(verdict_of(c)), "");
  for (std::size_t component : {0u, 1u, 2u}) {
    Case other = c;
    for (Program* program : {&other.before, &other.after})
      for (Monoid& monoid : program->monoids)
        if (monoid.fold) monoid.identity[component] = monoid.exprs.constant(Scalar::integer(i64, 7));
    EXPECT_EQ(first_refusal(verdict_of(other)), "fold") << component;
  }
}

}  // namespace
}  // namespace tap::check
