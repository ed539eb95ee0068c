// Plans out of shardings: that they compute the same on every mesh, and what they move.
#include "passes/shardings/plan_shardings.h"

#include "ir/interpret/interpret_blocks.h"
#include "passes/pass_manager.h"
#include "passes/shardings/propagate.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "tests/passes/lowered.h"
#include "tests/passes/random_shardings.h"

namespace tap::passes {
namespace {

using namespace ir;

struct Followed {
  Program lowered, realised;
  ShardedPlan sharded;
};

Followed follow(const std::string& text) {
  Followed out;
  out.lowered = run(lowering(), test::lowered(text)).program;
  PropagationOptions options;
  options.prepare = false;
  out.sharded = plan_of_shardings(propagate(out.lowered, options).program);
  SplitResult split = apply_splits(out.lowered, out.sharded.plan);
  EXPECT_TRUE(split.problems.empty());
  out.realised = realise(split.program).program;
  return out;
}

// Operations of a kind on the devices of the mesh.
std::size_t transfers(const Program& program) {
  std::size_t count = 0;
  for (const Operation& operation : program[program.main].operations)
    count += program[operation.op].transfer() != nullptr;
  return count;
}

void expect_same(const Followed& f) {
  ASSERT_EQ(verify(f.realised), std::vector<std::string>{});
  auto inputs = test::sample_inputs(f.lowered);
  // Device by device: each has only what it computed or was sent.
  test::expect_equal(interpret(expand(f.realised), inputs).outputs,
                     interpret(f.lowered, f.lowered.main, inputs).outputs, "sharded");
}

constexpr std::string_view mlp =
    "mesh pod = [data: 2, model: 4]\n"
    "program mlp(X: f32[8, 16] @ pod[{data}, {}], W1: f32[16, 32] @ pod[{}, {model}],\n"
    "            W2: f32[32, 16] @ pod[{model}, {}]) -> (Y: f32[8, 16] @ pod[{data}, {}]) {\n"
    "  H[i, o] = sum[k] X[i, k] * W1[k, o]\n"
    "  R[i, o] = max(H[i, o], 0)\n"
    "  Y[i, o] = sum[k] R[i, k] * W2[k, o]\n"
    "}\n";

// Columns, then rows: what moves is the one combination of partials.
TEST(PlanOfShardings, MegatronReshardsOnce) {
  Followed f = follow(std::string(mlp));
  EXPECT_EQ(transfers(f.realised), 1u) << print(f.sharded.plan);
  EXPECT_TRUE(f.sharded.left.empty());
  expect_same(f);
}

TEST(PlanOfShardings, DataParallelMovesNothing) {
  Followed f = follow(
      "mesh pod = [data: 4]\n"
      "program p(X: f32[8, 16] @ pod[{data}, {}], W: f32[16, 4]) -> (Y: f32[8, 4]) {\n"
      "  H[i, o] = sum[k] X[i, k] * W[k, o]\n  Y[i, o] = exp(H[i, o]) }");
  EXPECT_EQ(transfers(f.realised), 0u) << print(f.sharded.plan);
  EXPECT_FALSE(f.sharded.plan.decisions.empty());
  expect_same(f);
}

TEST(PlanOfShardings, TwoAxesOfOneDimAndSizesThatDoNotDivide) {
  expect_same(
      follow("mesh pod = [a: 2, b: 3]\n"
             "program p(X: f32[10, 7] @ pod[{a, b}, {}]) -> (Y: f32[7] @ pod[{b}]) { Y[j] = sum[i] X[i, j] }"));
}

// A stencil reads over the edges of blocks; a reversed read comes from the other end.
TEST(PlanOfShardings, RemoteCellsAreTransferred) {
  expect_same(
      follow("mesh pod = [a: 4]\n"
             "program p(X: f32[16] @ pod[{a}]) -> (Y: f32[16] @ pod[{a}]) {\n"
             "  H[i] = exp(X[i])\n"
             "  Y[i] = H[i - 1 else 0] + H[i] + H[i + 1 else 0] }"));
  expect_same(
      follow("mesh pod = [a: 4]\n"
             "program p(X: f32[16] @ pod[{a}]) -> (Y: f32[16] @ pod[{a}]) {\n"
             "  H[i] = exp(X[i])\n  Y[i] = H[15 - i] }"));
}

TEST(PlanOfShardings, NoShardingsNoPlan) {
  EXPECT_TRUE(follow("program p(X: f32[8]) -> (Y: f32[8]) { Y[i] = X[i] + 1 }").sharded.plan.decisions.empty());
}

// Whatever the shardings, and whether sizes divide or not: the same values.
TEST(PlanOfShardings, RandomShardingsPreserveResults) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  std::size_t split_count = 0;
  for (const test::Sample& sample : test::samples) {
    const Program lowered = run(lowering(), test::lowered(sample.text)).program;
    const auto inputs = test::sample_inputs(lowered);
    const auto expected = interpret(lowered, lowered.main, inputs).outputs;
    for (int round = 0; round < 12; ++round) {
      Program program = lowered;
      test::shard_at_random(program, random);
      SCOPED_TRACE(std::string(sample.name) + ", seed " + std::to_string(seed) + test::written(program));
      ShardedPlan sharded = plan_of_shardings(program);
      split_count += sharded.plan.decisions.size();
      SplitResult split = apply_splits(program, sharded.plan);
      ASSERT_TRUE(split.problems.empty());
      Program realised = realise(split.program).program;
      ASSERT_EQ(verify(realised), std::vector<std::string>{});
      test::expect_equal(interpret(expand(realised), inputs).outputs, expected, "sharded");
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(split_count, 50u);
}

}  // namespace
}  // namespace tap::passes
