// Operators whose dims are split into blocks: what they compute is what they computed before, and partials are of one block.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "build.h"

#include "ir/graph.h"

namespace tap::ir::test {
namespace {

using Values = std::vector<double>;

Operator row_sums(Program& program, std::int64_t n, std::int64_t m) {
  Build b("s");
  auto i = b.parallel("i", n), k = b.reduction("k", m);
  auto x = b.operand(i64, {n, m});
  b.result(i64, {n}, {b[i]});
  return b.reduce(add_monoid(program, "sum", i64), {b.read(x, {b[i], b[k]})});
}

// One more dim, which numbers the blocks of `dim`. It comes last: the oracle must not depend on the order of dims.
void add_split(Operator& op, std::uint32_t dim, Blocks blocks, DimRole role = DimRole::parallel) {
  auto r = static_cast<std::uint32_t>(op.dims.size());
  op.dims.push_back({"r" + std::to_string(r), {0, blocks.count}, role});
  for (Constraint& c : op.constraints) c.expr.coefficients.push_back(0);
  for (auto* accesses : {&op.reads, &op.writes})
    for (Access& access : *accesses) {
      ++access.projection.start.inputs;
      for (AffineExpr& row : access.projection.start.rows) row.coefficients.push_back(0);
    }
  op.blockings.push_back({dim, r, std::move(blocks)});
}

Tensor numbers(Shape shape) {
  Tensor t(i64, shape);
  for (std::int64_t k = 0; k < t.size(); ++k) t.store_i64(k, k * k % 17 - 5);
  return t;
}

// p[r, i] = sum[k in block r] x[i, k]
Operator partial_sums(Program& program, std::int64_t n, std::int64_t m, Blocks blocks) {
  Build b("p");
  auto r = b.parallel("r", blocks.count), i = b.parallel("i", n), k = b.reduction("k", m);
  auto x = b.operand(i64, {n, m});
  b.result(i64, {blocks.count, n}, {b[r], b[i]});
  Operator op = b.reduce(add_monoid(program, "sum", i64), {b.read(x, {b[i], b[k]})});
  op.blockings.push_back({k, r, std::move(blocks)});
  return op;
}

TEST(Blockings, PartialsAreOfOneBlock) {
  Program program;
  Operator op = partial_sums(program, 1, 5, {3, {0, 1, 1, 5}});
  Tensor x = tensor(i64, {1, 5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(values_of(evaluate(program, op, {x}).outputs[0]), (Values{1, 0, 14}));
}

RC_GTEST_PROP(Blockings, PreserveValues, ()) {
  Program program;
  auto n = *rc::gen::inRange<std::int64_t>(0, 9), m = *rc::gen::inRange<std::int64_t>(0, 9);
  Operator whole = row_sums(program, n, m), blocked = whole;
  Tensor x = numbers({n, m});
  add_split(blocked, 0, {*rc::gen::inRange<std::int64_t>(1, 5)});
  if (*rc::gen::arbitrary<bool>()) add_split(blocked, 0, {*rc::gen::inRange<std::int64_t>(1, 4)});
  if (*rc::gen::arbitrary<bool>()) add_split(blocked, 1, {*rc::gen::inRange<std::int64_t>(1, 4)}, DimRole::reduction);
  RC_ASSERT(values_of(evaluate(program, blocked, {x}).outputs[0]) ==
            values_of(evaluate(program, whole, {x}).outputs[0]));
}

// y[i] = sum[k in block of i, k <= i] x[k]: two dims follow one block dim, which is how a scan is split.
TEST(Blockings, TwoDimsFollowOneBlockDim) {
  Program program;
  Build b("y");
  auto r = b.parallel("r", 2), i = b.parallel("i", 5), k = b.reduction("k", 5);
  auto x = b.operand(i64, {5});
  b.result(i64, {5}, {b[i]});
  b.require_at_least_zero(b[i] - b[k]);
  Operator op = b.reduce(add_monoid(program, "sum", i64), {b.read(x, {b[k]})});
  op.blockings = {{i, r, {2}}, {k, r, {2}}};
  EXPECT_EQ(values_of(evaluate(program, op, {tensor(i64, {5}, {1, 2, 3, 4, 5})}).outputs[0]), (Values{1, 3, 6, 4, 9}));
}

TEST(Blockings, NarrowTheBoxOfAnApplication) {
  Program program;
  Operator op = partial_sums(program, 2, 10, {4});
  EXPECT_EQ(narrowed(op, {{{3, 4}, {0, 2}, {0, 10}}}).dims[2], (Range{9, 10}));
  EXPECT_EQ(narrowed(op, {{{0, 4}, {0, 2}, {0, 10}}}).dims[2], (Range{0, 10}));
  EXPECT_TRUE(is_block_dim(op, 0));
  EXPECT_FALSE(is_block_dim(op, 2));
}

}  // namespace
}  // namespace tap::ir::test
