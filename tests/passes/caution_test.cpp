// What is refused where floats are to be combined as they are written, or everything is to be proved (C05).
#include "passes/caution.h"

#include "passes/fusion/fuse.h"
#include "passes/rewrites/offer_choices.h"
#include "passes/splits/apply_splits.h"
#include "tests/passes/lowered.h"

namespace tap::passes::test {
namespace {

using namespace tap::ir;

constexpr Caution strict{true, false}, proved{false, true};

std::string reduction(const std::string& monoid, const std::string& type) {
  return "program p(X: " + type + "[4, 9]) -> (Y: " + type + "[4]) { Y[i] = " + monoid + "[k] X[i, k] }";
}
std::vector<std::string> problems(const std::string& text, const std::string& dim, Placement placement = {}) {
  Program program = lowered(text);
  PlannedSplit split{"Y", dim, Blocks{3}, placement};
  SplitResult result = apply_splits(program, {{split}}, strict);
  if (result.problems.empty()) expect_same_meaning(program, result.program);
  std::vector<std::string> messages;
  for (const PlanProblem& problem : result.problems) messages.push_back(problem.message);
  return messages;
}

TEST(Caution, FloatSumIsNotSplitIntoPartials) {
  const std::vector<std::string> refused{
      "`k` of `Y` cannot be split: `sum` rounds, and --strict-fp keeps the written order of float operations"};
  EXPECT_EQ(problems(reduction("sum", "f32"), "k"), refused);
  EXPECT_EQ(problems(reduction("sum", "f32"), "k", Placement::threads), refused);
  EXPECT_EQ(problems(reduction("prod", "f64"), "k").size(), 1u);
}

// What rounds nothing, what each cell does by itself, and blocks that are walked in the order that is written.
TEST(Caution, OrderPreservingSplitsAreAllowed) {
  const std::vector<std::string> none;
  EXPECT_EQ(problems(reduction("max", "f32"), "k"), none);
  EXPECT_EQ(problems(reduction("sum", "i64"), "k"), none);
  EXPECT_EQ(problems(reduction("sum", "f32"), "i"), none);
  EXPECT_EQ(problems(reduction("sum", "f32"), "k", Placement::sequential), none);
}

// In the order that is written, bit by bit: 1e8 + 1 - 1e8 … in f32 depends on it.
TEST(Caution, StreamedBlocksKeepTheBits) {
  Program program = lowered(reduction("sum", "f32"));
  SplitResult streamed = apply_splits(program, {{PlannedSplit{"Y", "k", Blocks{3}, Placement::sequential}}}, strict);
  SplitResult partials = apply_splits(program, {{PlannedSplit{"Y", "k", Blocks{3}}}});
  Tensor x(ElementType::f32, {4, 9});
  for (std::int64_t c = 0; c < 36; ++c) x.store_f64(c, c % 4 == 0 ? 1e8 : c % 4 == 2 ? -1e8 : 1 + 0.37 * double(c));
  auto run = [&](const Program& p) {
    std::vector<double> bits;
    Tensor y = interpret(p, p.main, {x}).outputs[0];
    for (std::int64_t c = 0; c < 4; ++c) bits.push_back(y.load_f64(c));
    return bits;
  };
  EXPECT_EQ(run(streamed.program), run(program));
  EXPECT_NE(run(partials.program), run(program));
}

TEST(Caution, FloatScanIsNotSplitAlongItself) {
  auto scan = [](const std::string& type) {
    return "program p(X: " + type + "[9]) -> (Y: " + type + "[9]) { Y[i] = sum[k in 0..i+1] X[k] }";
  };
  EXPECT_EQ(problems(scan("f32"), "i").size(), 1u);
  EXPECT_EQ(problems(scan("i64"), "i").size(), 0u);
}

TEST(Caution, FloatSumIsNotStreamed) {
  Program program =
      lowered("program p(X: f32[4, 9]) -> (Y: f32[4]) { v[i, k] = X[i, k] * X[i, k]  Y[i] = sum[k] v[i, k] }");
  Plan plan{{PlannedFusion{{"v", "Y"}, {"i", "k"}}}};
  PlannedResult refused = apply_fusions(program, plan, strict);
  ASSERT_EQ(refused.problems.size(), 1u);
  EXPECT_EQ(refused.problems[0].message,
            "`Y` cannot be streamed over k: `sum` rounds, and --strict-fp keeps the written order of float operations");
  EXPECT_TRUE(apply_fusions(program, plan).problems.empty());
}

// What is assumed, or does not hold, carries nothing.
TEST(Caution, RefutedAndAssumedLaws) {
  Program program =
      lowered("program p(X: i64[4, 9]) -> (Y: i64[4]) { v[i, k] = X[i, k] * X[i, k]  Y[i] = sum[k] v[i, k] }");
  Plan plan{{PlannedFusion{{"v", "Y"}, {"i", "k"}}}};
  auto with = [&](Law law) {
    for (Monoid& m : program.monoids) m.laws.associative = law;
  };
  with(Law::assumed);
  EXPECT_TRUE(apply_fusions(program, plan).problems.empty());
  ASSERT_EQ(apply_fusions(program, plan, proved).problems.size(), 1u);
  EXPECT_EQ(
      apply_fusions(program, plan, proved).problems[0].message,
      "`Y` cannot be streamed over k: that `sum` is associative is assumed, not proved, and --require-proof is set");
  with(Law::broken);
  ASSERT_EQ(apply_fusions(program, plan).problems.size(), 1u);
  EXPECT_EQ(apply_fusions(program, plan).problems[0].message,
            "`Y` cannot be streamed over k: `sum` is not associative");
}

TEST(Caution, FloatProductsKeepTheirOrder) {
  Program program = lowered(
      "program p(A: f32[9, 2], B: f32[2, 9], C: f32[9, 2]) -> (Y: f32[9, 2]) {\n"
      "  Y[i, l] = sum[j, k] A[i, j] * B[j, k] * C[k, l] }");
  PassContext context;
  EXPECT_NE(offer_choices(program, context).program, program);
  context.strict_fp = true;
  EXPECT_EQ(offer_choices(program, context).program, program);
}

}  // namespace
}  // namespace tap::passes::test
