// Groups as a plan requests them: what they are, what they mean, and why some cannot be.
#include "passes/fusion/fuse.h"

#include "tests/passes/lowered.h"

namespace tap::passes::test {
namespace {

using namespace tap::ir;

PlannedResult fuse(const Program& program, std::vector<std::string> operations, std::vector<std::string> dims = {}) {
  return apply_fusions(program, {{PlannedFusion{std::move(operations), std::move(dims)}}});
}
std::string refusal(const Program& program, std::vector<std::string> operations, std::vector<std::string> dims = {}) {
  PlannedResult result = fuse(program, std::move(operations), std::move(dims));
  EXPECT_EQ(result.program, program);
  EXPECT_TRUE(result.steps.empty());
  return result.problems.size() == 1 ? result.problems[0].message : "no refusal";
}

const char* softmax_text = "use std\nprogram p(X: f64[5, 7]) -> (Y: f64[5, 7]) { Y = softmax(X) }";

TEST(Fuse, SoftmaxOverItsRows) {
  Program program = lowered(softmax_text);
  PlannedResult result = fuse(program, {"Y.m", "Y.e", "Y.s", "Y"}, {"i"});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  const Graph& main = result.program[result.program.main];
  EXPECT_EQ(groups_of(result.program, main), (std::vector<std::string>{"over i: Y.m, Y.e, Y.s, Y -> Y"}));
  EXPECT_EQ(main.values.size(), 2u);  // m, e and s are gone
  const Operator& group = result.program[main.operations[0].op];
  EXPECT_EQ(to_string(group.reads[0].projection, group.dim_names()), "ZRange(start: [i, 0], shape: [1, 7])");
  EXPECT_EQ(to_string(group.writes[0].projection, group.dim_names()), "ZRange(start: [i, 0], shape: [1, 7])");
  expect_correct(program, result);
}

TEST(Fuse, ClaimsListTheGroupedOperations) {
  Program program = lowered(softmax_text);
  PlannedResult result = fuse(program, {"Y.m", "Y.e", "Y.s", "Y"}, {"i"});
  ASSERT_EQ(result.steps.size(), 1u);
  const GraphClaim& claim = result.steps[0].graphs[0];
  ASSERT_EQ(claim.operations.size(), 1u);
  EXPECT_EQ(std::get<GroupOf>(claim.operations[0]).from.size(), 4u);
  EXPECT_EQ(claim.values.size(), 2u);
}

// C11: y is needed at every j, and s is whole only after its own loop.
TEST(Fuse, RefusesTheReductionLoopForReadersOfItsResult) {
  Program program = lowered(softmax_text);
  EXPECT_EQ(refusal(program, {"Y.s", "Y"}, {"i", "k"}),
            "every point of k reads the final `Y.s`, whose loop over k cannot be nested in the loop over k");
  program = lowered(
      "program p(X: f64[5, 7]) -> (m: f64[5], s: f64[5]) { m[i] = max[k] X[i, k]  s[i] = sum[k] exp(X[i, k] - m[i]) }");
  EXPECT_EQ(refusal(program, {"m", "s"}, {"i", "k"}),
            "`s` reads the final value of `m` inside the loop over k that computes `m`");
}

TEST(Fuse, RefusesOperationsInBetween) {
  Program program = lowered(
      "program p(X: f64[6]) -> (Y: f64[6]) { a[i] = X[i] + 1  b[i] = a[5 - i] * 2 for i in 0..6  Y[i] = a[i] + b[i] }");
  EXPECT_EQ(refusal(program, {"a", "Y"}, {"i"}),
            "`b` would have to run inside the group: it reads a result of the group, and `Y` reads its result");
}

TEST(Fuse, RefusesUnknownNames) {
  Program program = lowered(softmax_text);
  EXPECT_EQ(refusal(program, {"Y.m", "Z"}), "unknown operation `Z`");
  EXPECT_EQ(refusal(program, {"Y.m", "Y"}, {"q"}), "`Y` has no dim `q`; it has `i`, `k`");
}

TEST(Fuse, RefusesResultsThatNeighboursNeed) {
  Program program =
      lowered("program p(X: f64[6]) -> (A: f64[6], Y: f64[6]) { A[i] = X[i] * 2  Y[i] = A[i] + A[i+1 else 0] }");
  EXPECT_EQ(refusal(program, {"A", "Y"}, {"i"}),
            "`A` is read outside the group, and inside it at different points of i");
}

TEST(Fuse, KeepsValuesWithAGivenShardingAsResults) {
  Program program = lowered(
      "use std\nmesh d = [x: 2]\nprogram p(X: f64[4, 6]) -> (Y: f64[4, 6]) { A = relu(X) @ d[{x}, {}]\n"
      "  m[i] = max[k] A[i, k]  Y[i, j] = A[i, j] / m[i] }");
  PlannedResult result = fuse(program, {"A", "m", "Y"}, {"i"});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  EXPECT_EQ(groups_of(result.program, result.program[result.program.main]),
            (std::vector<std::string>{"over i: A, m, Y -> Y, A"}));
  expect_correct(program, result);
}

TEST(Fuse, KeepsEscapingValuesAsResults) {
  Program program = lowered(
      "program p(X: f64[4, 3]) -> (S: f64[4], Y: f64[4, 3]) { S[i] = sum[k] X[i, k]  Y[i, j] = X[i, j] - S[i] }");
  PlannedResult result = fuse(program, {"S", "Y"}, {"i"});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  EXPECT_EQ(groups_of(result.program, result.program[result.program.main]),
            (std::vector<std::string>{"over i: S, Y -> Y, S"}));
  expect_correct(program, result);
}

TEST(Fuse, HalosAreRecomputed) {
  Program program = lowered(
      "program p(X: f64[9, 8]) -> (Y: f64[9, 8]) {\n"
      "  a[i, j] = X[i-1, j else 0] + X[i, j+1 else 0]\n"
      "  b[i, j] = a[i, j-1 else 3] * a[i+1, j else 1]\n"
      "  Y[i, j] = b[i-1, j else 0] + b[i+1, j+1 else 2] }");
  PlannedResult result = fuse(program, {"a", "b", "Y"}, {"i", "j"});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  expect_correct(program, result);
}

// Two reductions over one index space, and what they both read: the loop over k is shared, and v is never whole.
TEST(Fuse, StreamsReductions) {
  Program program = lowered(
      "program p(X: f64[4, 9]) -> (S: f64[4], M: f64[4]) {\n"
      "  v[i, k] = X[i, k] * X[i, k]\n"
      "  S[i] = sum[k] v[i, k]\n"
      "  M[i] = max[k] v[i, k] }");
  PlannedResult result = fuse(program, {"v", "S", "M"}, {"i", "k"});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  const Graph& main = result.program[result.program.main];
  EXPECT_EQ(groups_of(result.program, main), (std::vector<std::string>{"over i, k: v, S, M -> M, S"}));
  EXPECT_EQ(result.program[main.operations[0].op].dims[1].role, DimRole::reduction);
  expect_correct(program, result);
}

// The row of scores of attention is streamed as well: a group of scores and running state in one of query rows.
TEST(Fuse, GroupsNest) {
  Program program = lowered(
      "use std\nprogram p(Q: f64[5, 2], K: f64[7, 2], V: f64[7, 3]) -> (Y: f64[5, 3]) {\n"
      "  t[i, j] = sum[c] Q[i, c] * K[j, c]\n"
      "  o[i, c] = sum[j] t[i, j] * V[j, c]\n"
      "  Y[i, c] = o[i, c] + 1 }");
  Plan plan{{PlannedFusion{{"t", "o"}, {"i", "j"}}, PlannedFusion{{"o", "Y"}, {"i"}}}};
  PlannedResult result = apply_fusions(program, plan);
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  EXPECT_EQ(result.steps.size(), 2u);
  EXPECT_EQ(groups_of(result.program, result.program[result.program.main]),
            (std::vector<std::string>{"over i: o, Y -> Y"}));
  expect_correct(program, result);
}

// The running state of attention has a component that is read by nobody.
TEST(Fuse, AttentionStreamsItsKeys) {
  Program program = lowered(
      "monoid both(w: f64, v: f64) { identity (-inf, 0)  combine (a, b) = (max(a.w, b.w), a.v + b.v) }\n"
      "program p(Q: f64[5, 2], K: f64[7, 2], V: f64[7, 3]) -> (Y: f64[5, 3]) {\n"
      "  t[i, j] = sum[c] Q[i, c] * K[j, c]\n"
      "  (m[i], o[i, c]) = both[j] (t[i, j], V[j, c])\n"
      "  Y[i, c] = o[i, c] + 1 }");
  PlannedResult result = fuse(program, {"t", "m"}, {"i", "j"});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  expect_correct(program, result);
}

// A value inside may have several writers; a result is one region at each point.
TEST(Fuse, Concatenations) {
  Program inside = lowered(
      "program p(X: f64[4, 3]) -> (Y: f64[4, 6]) {\n"
      "  a[i, j] = X[i, j] * 2 for j in 0..3\n"
      "  a[i, 3 + j] = X[i, j] * 3 for j in 0..3\n"
      "  Y[i, j] = a[i, j] + a[i, j-1 else 0] }");
  PlannedResult result = fuse(inside, {"a@0", "a@1", "Y"}, {"i", "j"});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  expect_correct(inside, result);
  Program outside = lowered(
      "program p(X: f64[4, 3]) -> (Y: f64[4, 6]) {\n"
      "  a[i, j] = X[i, j] + 1\n"
      "  Y[i, j] = a[i, j] * 2 for j in 0..3\n"
      "  Y[i, 3 + j] = a[i, j] * 3 for j in 0..3 }");
  for (const std::vector<std::string>& dims : {std::vector<std::string>{"i"}, {"i", "j"}}) {
    result = fuse(outside, {"a", "Y@0", "Y@1"}, dims);
    ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
    expect_correct(outside, result);
  }
  EXPECT_EQ(refusal(outside, {"a", "Y@0", "Y@1"}, {"k"}),
            "the group has no dim `k`: several operations write `Y`, so its dims are the axes of `Y`, i, j");
}

// Neither writer of Y runs over all of it.
TEST(Fuse, ResultsOfSeveralWritersEndInACopy) {
  Program program = lowered(
      "program p(X: f64[8]) -> (Y: f64[8]) {\n"
      "  a[i] = 0.5 * (X[i-1] + X[i+1]) for i in 1..7\n  a[i] = X[i] for i in 0..1\n  a[i] = X[i] for i in 7..8\n"
      "  Y[i] = 0.5 * (a[i-1] + a[i+1]) for i in 1..7\n  Y[i] = a[i] for i in 0..1\n  Y[i] = a[i] for i in 7..8 }");
  PlannedResult result = fuse(program, {"a@0", "a@1", "a@2", "Y@0", "Y@1", "Y@2"}, {"i"});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  const Graph& main = result.program[result.program.main];
  EXPECT_EQ(groups_of(result.program, main),
            (std::vector<std::string>{"over i: a, a, a, Y.parts, Y.parts, Y.parts, Y -> Y"}));
  const Operator& group = result.program[main.operations[0].op];
  EXPECT_EQ(to_string(group.reads[0].projection, group.dim_names()), "ZRange(start: [i - 2], shape: [5])");
  EXPECT_EQ(to_string(group.writes[0].projection, group.dim_names()), "ZRange(start: [i], shape: [1])");
  expect_correct(program, result);
}

// Anything else after the grouped operations is refused.
TEST(Fuse, OnlyCopiesFollowTheGroupedOperations) {
  const Program program =
      lowered("program p(X: f64[8]) -> (Y: f64[8]) { Y[i] = X[i] * 2 for i in 1..8  Y[i] = X[i] + 1 for i in 0..1 }");
  const PlannedResult result = fuse(program, {"Y@0", "Y@1"}, {"i"});
  ASSERT_EQ(result.steps.size(), 1u);
  expect_correct(program, result);
  using Change = std::function<void(Operator&)>;
  const Change changes[] = {
      [](Operator& copy) { copy.reads[0].projection.start.rows[0].offset = 1; },
      [](Operator& copy) { copy.reads[0].projection.start.rows[0].coefficients[0] = -1; },
      [](Operator& copy) { copy.dims[0].range.hi = 7; },
      [](Operator& copy) {
        CellExprs& e = copy.exprs;
        copy.body = MapBody{{e.apply(CellOp::neg, ElementType::f64, {copy.map()->values[0]})}};
      },
  };
  for (const Change& change : changes) {
    Program forged = result.program;
    const Graph& main = forged[forged.main];
    const Graph& inner = forged[forged[main.operations[0].op].region()->graph];
    change(forged.operators[inner.operations.back().op.index()]);
    check::Verdict verdict;
    check::check_step(program, forged, result.steps[0], result.steps[0].pass, verdict);
    EXPECT_TRUE(std::ranges::any_of(
        verdict.findings, [](const check::Finding& finding) { return finding.standing == check::Standing::refused; }));
  }
}

TEST(Fuse, OneOfTwoResultsHasSeveralWriters) {
  Program program = lowered(
      "program p(X: f64[6]) -> (Y: f64[6], Z: f64[6]) {\n"
      "  Z[i] = X[i] * 2\n  Y[i] = Z[i] + 1 for i in 0..2\n  Y[i] = X[i] for i in 2..6 }");
  PlannedResult result = fuse(program, {"Z", "Y@0", "Y@1"}, {"i"});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  expect_correct(program, result);
}

TEST(Fuse, DataDependentReadsNeedTheWholeAxis) {
  Program program = lowered(
      "program p(X: f64[4, 3], I: i64[5]) -> (Y: f64[5, 3]) { a[r, c] = X[r, c] + 1  Y[n, c] = a[I[n], c] * 2 }");
  PlannedResult result = fuse(program, {"a", "Y"}, {"c"});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  expect_correct(program, result);
}

}  // namespace
}  // namespace tap::passes::test
