// Rewrites as choices: matched by what operations compute, offered, picked by a plan; checked, and evaluated on the oracle.
#include "tests/check/choices_fixture.h"

namespace tap::check {
namespace {

using namespace choices_test;

TEST(Choices, HandWrittenMatrixProductMatches) {
  Offered o = offer(products + R"(
      op matmul_rule(x: T[n, k], w: T[k, m]) -> (y: T[n, m]) where T: number { y[a, b] = sum[c] x[a, c] * w[c, b] }
      rewrite matmul_rule(x, w) => sum_in(products(x, w))
      program p(A: f32[3, 4], B: f32[4, 5]) -> (C: f32[3, 5]) { C[i, j] = sum[k] B[k, j] * A[i, k] })");
  auto found = choices(o.program);
  ASSERT_EQ(found.count("C"), 1u);
  ASSERT_EQ(found["C"]->alternatives.size(), 1u);
  EXPECT_EQ(found["C"]->alternatives[0].rule, "rewrite matmul_rule(x, w) => sum_in(products(x, w))");
  CertifiedRun first = picked(o.program, ""), second = picked(o.program, "choose C 1\n");
  EXPECT_EQ(assumed(first), std::vector<std::string>{});
  EXPECT_EQ(assumed(second),
            std::vector<std::string>{"the rule `rewrite matmul_rule(x, w) => sum_in(products(x, w))`"});
  EXPECT_EQ(first.last()[first.last().main].operations.size(), 1u);
  EXPECT_EQ(second.last()[second.last().main].operations.size(), 2u);
  EXPECT_EQ(evaluate(first.last()), evaluate(o.source));
  EXPECT_EQ(evaluate(second.last()), evaluate(o.source));
}

TEST(Choices, LinearAsMatmulAndSum) {
  // Linear → Matmul + Sum → SumDim(Prod): with calls inlined a linear layer is a matrix product and a bias already.
  Offered o = offer(products + R"(
      rewrite linear(x, w, b) => bias(matmul(x, w), b)
      rewrite matmul(x, w) => sum_in(products(x, w))
      program p(X: f64[3, 4], W: f64[4, 5], b: f64[5]) -> (Y: f64[3, 5]) { Y = relu(linear(X, W, b)) })");
  auto found = choices(o.program);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(o.has_remark("already computes"));
  Program second = chosen(o.program, "choose " + plan_name(found.begin()->first) + " 1\n");
  EXPECT_EQ(evaluate(second), evaluate(o.source));
  const Graph& main = second[second.main];
  auto shape = [&](std::size_t k) { return main[main.operations[k].results[0]].type.shape; };
  EXPECT_EQ(shape(0), (Shape{3, 4, 5}));  // the products
  EXPECT_EQ(shape(1), (Shape{3, 5}));     // their sum
}

TEST(Choices, GuardIsEvaluatedForTheGivenSizes) {
  const std::string text = products + R"(
      dim depth = 8
      rewrite matmul(x, w) => sum_in(products(x, w)) when matmul.in > 6
      program p(A: f32[3, depth], B: f32[depth, 5]) -> (C: f32[3, 5]) { C = matmul(A, B) })";
  EXPECT_EQ(choices(offer(text).program).size(), 1u);
  std::string small = text;
  small.replace(small.find("= 8"), 3, "= 4");
  Offered o = offer(small);
  EXPECT_TRUE(choices(o.program).empty());
  EXPECT_TRUE(o.has_remark("`matmul.in > 6` is false: `matmul.in` is 4"));
}

TEST(Choices, SeveralOperationsMatchUnlessUsedInside) {
  const std::string head = "use std\nprogram p(X: f64[3, 4]) -> (Y: f64[3, 4]";
  const std::string softmax = R"( {
      m[i] = max[k] X[i, k]
      e[i, k] = exp(X[i, k] - m[i])
      s[i] = sum[k] e[i, k]
      Y[i, k] = e[i, k] / s[i]
      )";
  Offered o = offer(head + ")" + softmax + "}");
  auto found = choices(o.program);
  ASSERT_EQ(found.count("Y"), 1u);
  EXPECT_EQ(found["Y"]->alternatives[0].rule, "rewrite softmax(x) => exp(log_softmax(x))");
  EXPECT_EQ(o.program[found["Y"]->graph].operations.size(), 4u);
  expect_near(evaluate(chosen(o.program, "choose Y 1\n")), evaluate(o.source));

  Offered used = offer(head + ", S: f64[3])" + softmax + "S[i] = s[i] + 1\n}");
  EXPECT_EQ(choices(used.program).count("Y"), 0u);
  EXPECT_TRUE(used.has_remark("`s`, which it would no longer compute, is also used elsewhere"));
}

TEST(Choices, SplitAndBarrierPreventRewrites) {
  const std::string head = R"(
      mesh pod = [data: 2]
      op norm(x: T[n]) -> (y: T[n]) where T: number { s[] = sum[i] x[i]  y[i] = x[i] * s[] }
      op norm2(x: T[n]) -> (y: T[n]) where T: number { s[] = sum[i] x[i]  y[i] = x[i] * (2 * s[]) / 2 }
      rewrite norm(x) => norm2(x)
      program p(X: i64[4]) -> (Y: i64[4]) { s[] = sum[i] X[i]  Y[i] = X[i] * s[]
      )";
  EXPECT_EQ(choices(offer(head + "}").program).count("Y"), 1u);
  Offered split = offer(head + "split Y on axis 0 into 2\n}");
  EXPECT_EQ(choices(split.program).count("Y"), 0u);
  EXPECT_TRUE(split.has_remark("the program splits an operation that it replaces"));
  Offered barrier = offer(head + "barrier s both\n}");
  EXPECT_EQ(choices(barrier.program).count("Y"), 0u);
  EXPECT_TRUE(barrier.has_remark("`s`, which it would no longer compute, has a sharding or a split"));
}

TEST(Choices, ValueWithSeveralWritersIsNotRewritten) {
  Offered o = offer(R"(
      op twice(x: T[n], k: T[m]) -> (y: T[n]) where T: number { y[i] = x[i] * 2 }
      op shifted(x: T[n]) -> (y: T[n]) where T: number { y[i] = x[i] + 3 }
      op shifted_in_steps(x: T[n]) -> (y: T[n]) where T: number { h[i] = x[i] + 1  y[i] = h[i] + 2 }
      rewrite shifted(x) => shifted_in_steps(x)
      program p(X: i64[4]) -> (Y: i64[8], Z: i64[4]) {
          Y[i] = X[i] + 3 for i in 0..4
          Y[4 + i] = X[i] * 5
          Z[i] = X[i] + 3
      })");
  EXPECT_EQ(choices(o.program).count("Z"), 1u);
  EXPECT_EQ(choices(o.program).count("Y"), 0u);
}

TEST(Choices, ChoicesNest) {
  Offered o = offer(products + R"(
      rewrite matmul_transposed(x, w) => matmul(x, transpose(w))
      rewrite matmul(x, w) => sum_in(products(x, w))
      program p(A: f64[3, 4], B: f64[5, 4]) -> (C: f64[3, 5]) { C[i, j] = sum[k] A[i, k] * B[j, k] })");
  auto outer = choices(o.program);
  ASSERT_EQ(outer.count("C"), 1u);
  auto inner = choices(o.program, outer["C"]->alternatives[0].graph);
  ASSERT_EQ(inner.size(), 1u);
  Program once = chosen(o.program, "choose C 1\n");
  CertifiedRun twice = picked(o.program, "choose C 1\nchoose C 1\n");
  EXPECT_EQ(twice.problems.size(), 0u);
  EXPECT_EQ(assumed(twice).size(), 2u);
  EXPECT_EQ(once[once.main].operations.size(), 2u);
  EXPECT_EQ(twice.last()[twice.last().main].operations.size(), 3u);
  EXPECT_EQ(evaluate(once), evaluate(o.source));
  EXPECT_EQ(evaluate(twice.last()), evaluate(o.source));
}

TEST(Choices, InverseRulesTerminate) {
  Offered o = offer(R"(
      op twice(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = 2 * x[i..] }
      op plus_itself(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = x[i..] + x[i..] }
      rewrite twice(x) => plus_itself(x)
      rewrite plus_itself(x) => twice(x)
      program p(X: i32[3]) -> (Y: i32[3], Z: i32[3]) { Y = twice(X)  Z = plus_itself(X) })");
  auto found = choices(o.program);
  ASSERT_EQ(found.size(), 2u);
  for (const auto& [name, region] : found) {
    EXPECT_EQ(region->alternatives.size(), 1u);
    EXPECT_TRUE(choices(o.program, region->alternatives[0].graph).empty());
  }
  EXPECT_EQ(evaluate(chosen(o.program, "choose Y 1\nchoose Z 1\n")), evaluate(o.source));
}

TEST(Choices, ReplacementByAnOperandIsACopy) {
  Offered o = offer(R"(
      op flip(x: T[n]) -> (y: T[n]) where T: number { y[i] = x[n - 1 - i] }
      rewrite flip(flip(x)) => x
      program p(X: i64[5]) -> (Y: i64[5]) { Y = flip(flip(X)) })");
  auto found = choices(o.program);
  ASSERT_EQ(found.count("Y"), 1u);
  Program out = chosen(o.program, "choose Y 1\n");
  EXPECT_EQ(out[out.main].operations.size(), 1u);
  EXPECT_EQ(evaluate(out), evaluate(o.source));
}

TEST(Choices, IteratesContainChoices) {
  Offered o = offer(products + R"(
      rewrite matmul(x, w) => sum_in(products(x, w))
      program p(X: i32[3, 3], W: i32[3, 3]) -> (Y: i32[3, 3]) { Y = iterate 3 (v = X) { u = matmul(v, W)  u } })");
  Program out = chosen(o.program, "choose Y/u 1\n");
  EXPECT_EQ(evaluate(out), evaluate(o.source));
  EXPECT_NE(print(out), print(chosen(o.program, "")));
}

// m1 → z2 → s2 and m2 → z1 → s1: as one operation each, (m1, s1) and (m2, s2) would wait for each other.
TEST(Choices, CyclicMatchesAreNotOffered) {
  Offered o = offer(R"(
      op both(x: T[n], z: T[n]) -> (m: T[n], s: T[n]) where T: number { m[i] = x[i] + 7  s[i] = m[i] * z[i] }
      op other(x: T[n], z: T[n]) -> (m: T[n], s: T[n]) where T: number { m[i] = 7 + (x[i] + 1) - 1  s[i] = (x[i] + 7) * z[i] }
      rewrite both(x, z) => other(x, z)
      program p(X: i64[4], Z: i64[4]) -> (A: i64[4], B: i64[4]) {
          m[i] = X[i] + 7
          n[i] = Z[i] + 7
          u[i] = n[i] * 3
          v[i] = m[i] * 5
          A[i] = m[i] * u[i]
          B[i] = n[i] * v[i]
      })");
  EXPECT_TRUE(choices(o.program).empty());
  EXPECT_TRUE(o.has_remark("it would form a cycle with other choices"));
}

TEST(Choices, OperationsInBetweenAreMovedAfter) {
  Offered o = offer(R"(
      op both(x: T[n], z: T[n]) -> (m: T[n], s: T[n]) where T: number { m[i] = x[i] + 7  s[i] = m[i] * z[i] }
      op other(x: T[n], z: T[n]) -> (m: T[n], s: T[n]) where T: number { m[i] = x[i] + 7  s[i] = (x[i] + 7) * z[i] }
      rewrite both(x, z) => other(x, z)
      program p(X: i64[4], Z: i64[4]) -> (A: i64[4], B: i64[4]) {
          m[i] = X[i] + 7
          B[i] = m[i] * 5
          A[i] = m[i] * Z[i]
      })");
  auto found = choices(o.program);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->second->alternatives.size(), 1u);
  EXPECT_EQ(evaluate(chosen(o.program, "choose " + plan_name(found.begin()->first) + " 1\n")), evaluate(o.source));
}

TEST(Choices, InvalidPicksAreReported) {
  Offered o = offer(products + R"(
      rewrite matmul(x, w) => sum_in(products(x, w))
      program p(A: f32[3, 4], B: f32[4, 5]) -> (D: f32[3, 5]) { C = matmul(A, B)  D = relu(C) })");
  CertifiedRun w = picked(o.program, "choose C 2\nchoose E 1\nchoose D 1\nchoose C 1\n");
  ASSERT_EQ(w.problems.size(), 4u);
  EXPECT_EQ(w.problems[0].message, "`C` has no alternative 2; it has 0 to 1");
  EXPECT_EQ(w.problems[1].message, "unknown operation `E`");
  EXPECT_EQ(w.problems[2].message, "`D` offers no choice");
  EXPECT_EQ(w.problems[2].help, "the choices are `C`");
  EXPECT_EQ(w.problems[3].message, "`C` offers no choice");
  EXPECT_EQ(evaluate(w.last()), evaluate(o.source));
}

}  // namespace
}  // namespace tap::check
