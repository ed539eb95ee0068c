// Steps of iterates written out, and fused into time tiles.
#include "passes/fusion/unroll.h"

#include "passes/fusion/fuse.h"

#include "tests/passes/lowered.h"

namespace tap::passes::test {
namespace {

using namespace tap::ir;

PlannedResult unroll(const Program& program, const std::string& operation, std::int64_t steps) {
  return apply_unrolls(program, {{PlannedUnroll{operation, steps}}});
}

const RegionBody* iterate_in(const Program& program, const Graph& graph) {
  for (const Operation& operation : graph.operations)
    if (const RegionBody* region = program[operation.op].region(); region && region->kind == RegionKind::iterate)
      return region;
  return nullptr;
}

std::vector<double> run(const Program& program, std::vector<double> x, std::int64_t block = 0) {
  InterpretOptions options;
  options.group_block = block;
  Tensor input = tap::test::tensor(ElementType::f64, {static_cast<std::int64_t>(x.size())}, x);
  return tap::test::values(interpret(program, program.main, {input}, options).outputs[0]);
}

// Trap 37: cells outside the tensor keep the fill in every step, whatever is fused.
TEST(Unroll, FillsAreKeptWhenTripsAreFused) {
  Program program = lowered(
      "program p(X: f64[3]) -> (Y: f64[3]) {\n"
      "  Y = iterate 2 (x = X) { y[i] = x[i-1 else 0] + x[i] + x[i+1 else 0]; y } }");
  PlannedResult steps = unroll(program, "Y", 2);
  ASSERT_TRUE(steps.problems.empty()) << steps.problems[0].message;
  PlannedResult tiles = apply_fusions(steps.program, {{PlannedFusion{{"Y.y.0", "Y"}, {"i"}}}});
  ASSERT_TRUE(tiles.problems.empty()) << tiles.problems[0].message;
  for (std::int64_t block : {0, 1, 2, 3})
    EXPECT_EQ(run(tiles.program, {1, 1, 1}, block), (std::vector<double>{5, 7, 5}));
  expect_same_meaning(program, tiles.program);
}

// The halo of T steps is T wide.
TEST(Unroll, TimeTilesHaveWideHalos) {
  Program program = lowered(
      "use std\nprogram p(F: f64[12, 9]) -> (U: f64[12, 9]) { U0 = zeros_like(F)\n"
      "  U = iterate 8 (V = U0) { jacobi5(V, F) } }");
  PlannedResult steps = unroll(program, "U", 4);
  ASSERT_TRUE(steps.problems.empty()) << steps.problems[0].message;
  const RegionBody* before = iterate_in(program, program[program.main]);
  ASSERT_NE(before, nullptr);
  const Graph& old_body = program[before->graph];
  std::string name = old_body[old_body.outputs[0]].name;
  PlannedFusion fusion{{}, {"i", "j"}};
  for (int s = 0; s < 4; ++s) fusion.operations.push_back("U/" + name + "." + std::to_string(s));
  PlannedResult tiles = apply_fusions(steps.program, {{fusion}});
  ASSERT_TRUE(tiles.problems.empty()) << tiles.problems[0].message;
  const RegionBody* after = iterate_in(tiles.program, tiles.program[tiles.program.main]);
  EXPECT_EQ(after->trips, (Range{0, 2}));
  const Graph& body = tiles.program[after->graph];
  ASSERT_EQ(body.operations.size(), 1u);
  const Operator& group = tiles.program[body.operations[0].op];
  EXPECT_EQ(to_string(group.reads[0].projection, group.dim_names()), "ZRange(start: [i - 4, j - 4], shape: [9, 9])");
  expect_same_meaning(program, tiles.program);
}

// What is left over follows as single steps, and counters count on. All steps leave no repetition.
TEST(Unroll, RemaindersAndCounters) {
  for (std::int64_t steps : {1, 2, 3, 4, 6}) {
    Program program = lowered(
        "program p(X: f64[5]) -> (Y: f64[5]) {\n"
        "  Y = iterate t in 2..9 (x = X) { y[i] = (if i == t then 100 else x[i]) + f64(t) * 3 + x[t - 2 else 1]; y } "
        "}");
    PlannedResult result = unroll(program, "Y", steps);
    ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
    expect_correct(program, result);
    if (steps == 1) continue;
    const RegionBody* region = iterate_in(result.program, result.program[result.program.main]);
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(region->trips.size(), 7 / steps);
    EXPECT_EQ(result.program[region->graph].operations.size(), static_cast<std::size_t>(steps));
    EXPECT_EQ(result.program[result.program.main].operations.size(), static_cast<std::size_t>(1 + 7 % steps));
  }
}

TEST(Unroll, FullUnrollRemovesTheIterate) {
  for (const char* trips : {"t in 2..9", "t in 4..5"}) {
    Program program = lowered(std::string("program p(X: f64[5]) -> (Y: f64[5]) {\n  Y = iterate ") + trips +
                              " (x = X) { y[i] = (if i == t then 100 else x[i]) + f64(t) * 3 + x[t - 2 else 1]; y } }");
    const std::int64_t steps = iterate_in(program, program[program.main])->trips.size();
    PlannedResult result = unroll(program, "Y", steps);
    ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
    ASSERT_EQ(result.steps.size(), 1u);
    expect_correct(program, result);
    EXPECT_EQ(iterate_in(result.program, result.program[result.program.main]), nullptr);
    EXPECT_EQ(result.program[result.program.main].operations.size(), static_cast<std::size_t>(steps));
    EXPECT_EQ(result.program.graphs.size(), 1u);
  }
}

// What the body says of its values and splits is said of each step, also of those that are left over.
TEST(Unroll, EveryTripIsAnnotated) {
  Program program = lowered(
      "mesh pod = [d: 2]\nprogram p(X: f64[6]) -> (Y: f64[6]) {\n  Y = iterate 5 (x = X) { w[i] = x[5 - i] * 2 for i "
      "in 0..6\n"
      "    split w on i into 2 over threads\n    barrier w forward\n    y[i] = w[i] + w[5 - i] for i in 0..6\n    "
      "group w, y\n    y } }");
  for (std::int64_t steps : {2, 5}) {
    PlannedResult result = unroll(program, "Y", steps);
    ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
    expect_correct(program, result);
    const Graph& main = result.program[result.program.main];
    const auto left = static_cast<std::size_t>(steps == 5 ? 5 : 1);
    ASSERT_EQ(main.splits.size(), left);
    EXPECT_EQ(main.barriers.size(), left);
    EXPECT_EQ(main.groups.size(), left);
    for (std::size_t k = 0; k < left; ++k) {
      const Operation& split_operation = main[main.splits[k].operation];
      EXPECT_EQ(main.barriers[k].value, split_operation.results[0]);
      EXPECT_EQ(main.groups[k].values[0], split_operation.results[0]);
    }
  }
}

TEST(Unroll, PassedAndSwappedStates) {
  Program program = lowered(
      "program p(X: f64[4], Z: f64[4]) -> (A: f64[4], B: f64[4], C: f64[4]) {\n"
      "  (A, B, C) = iterate 5 (a = X, b = Z, c = X) { d[i] = a[i] + b[3 - i]; (b, d, c) } }");
  for (std::int64_t steps : {2, 3, 5}) {
    PlannedResult result = unroll(program, "A", steps);
    ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
    expect_correct(program, result);
  }
}

std::string nested(const std::string& inside) {
  return "program p(X: f64[4]) -> (Y: f64[4]) {\n"
         "  Y = iterate s in 0..3 (x = X) {\n"
         "    z = iterate t in 0..5 (v = x) { w[i] = v[i] * 2 + " +
         inside + " + f64(t); w }\n    z } }";
}

TEST(Unroll, NestedIterates) {
  for (const char* inside : {"1", "f64(s) * 10"})
    for (std::int64_t steps : {2, 3, 5}) {
      Program program = lowered(nested(inside));
      PlannedResult result = unroll(program, "Y/z", steps);
      ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
      expect_correct(program, result);
    }
  for (std::int64_t steps : {2, 3}) {
    Program program = lowered(nested("1"));
    PlannedResult result = unroll(program, "Y", steps);
    ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
    expect_correct(program, result);
  }
}

// In each step the counter would be another number for what is repeated or grouped inside, of which nothing could be claimed.
constexpr std::string_view not_inside =
    "`Y` cannot be unrolled: an iterate or a group inside it uses its counter or that of an enclosing iterate";

TEST(Unroll, CounterUsedByANestedIterate) {
  Program program = lowered(nested("f64(s) * 10"));
  PlannedResult result = unroll(program, "Y", 2);
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_EQ(result.problems[0].message, not_inside);
  EXPECT_EQ(result.program, program);
  EXPECT_TRUE(result.steps.empty());
  // Once all steps of the one inside stand in the body, each is an operation that sees the counter itself.
  PlannedResult inside = unroll(program, "Y/z", 5);
  ASSERT_TRUE(inside.problems.empty()) << inside.problems[0].message;
  for (std::int64_t steps : {2, 3}) {
    PlannedResult all = unroll(inside.program, "Y", steps);
    ASSERT_TRUE(all.problems.empty()) << all.problems[0].message;
    expect_correct(inside.program, all);
    expect_same_meaning(program, all.program);
  }
}

// A group of operations that see the counter has that counter as a dim.
TEST(Unroll, GroupsThatUseACounter) {
  Program program = lowered(
      "program p(X: f64[6], W: f64[9, 6]) -> (Y: f64[6]) {\n"
      "  Y = iterate t in 1..8 (x = X) { a[i] = x[i] + W[t, i]; y[i] = a[i-1 else 0] * f64(t) + a[i]; y } }");
  PlannedResult fused = apply_fusions(program, {{PlannedFusion{{"Y/a", "Y/y"}, {"i"}}}});
  ASSERT_TRUE(fused.problems.empty()) << fused.problems[0].message;
  expect_correct(program, fused);
  PlannedResult steps = unroll(fused.program, "Y", 3);
  ASSERT_EQ(steps.problems.size(), 1u);
  EXPECT_EQ(steps.problems[0].message, not_inside);
  // Written out first, as a plan does, and then fused, it is one group for all of its steps.
  steps = unroll(program, "Y", 3);
  ASSERT_TRUE(steps.problems.empty()) << steps.problems[0].message;
  PlannedFusion all{{}, {"i"}};
  for (const char* name : {"a.0", "y.0", "a.1", "y.1", "a.2", "y.2"})
    all.operations.push_back("Y.7/" + std::string(name));
  fused = apply_fusions(steps.program, {{all}});
  ASSERT_TRUE(fused.problems.empty()) << fused.problems[0].message;
  expect_correct(steps.program, fused);
}

TEST(Unroll, Refusals) {
  Program program = lowered(
      "program p(X: f64[3]) -> (Y: f64[3], Z: f64[3]) {\n"
      "  Z[i] = X[i] + 1\n  Y = iterate 4 (x = X) { y[i] = x[i] * 2; y } }");
  auto message = [&](const std::string& operation, std::int64_t steps) {
    PlannedResult result = unroll(program, operation, steps);
    return result.problems.size() == 1 ? result.problems[0].message : "no refusal";
  };
  EXPECT_EQ(message("Y", 0), "`Y` has 4 steps; cannot unroll by 0");
  EXPECT_EQ(message("Y", -1), "`Y` has 4 steps; cannot unroll by -1");
  EXPECT_EQ(message("Y", 5), "`Y` has 4 steps; cannot unroll by 5");
  EXPECT_EQ(message("Z", 2), "`Z` is not an iterate, so it cannot be unrolled");
  EXPECT_EQ(message("Q", 2), "unknown operation `Q`");
}

}  // namespace
}  // namespace tap::passes::test
