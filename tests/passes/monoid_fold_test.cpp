// Reductions by a monoid's fold: what is offered, what it means, what is picked where nothing is said, and why some are not
// offered.
#include "passes/rewrites/monoid_fold.h"

#include <fmt/format.h>

#include "passes/fusion/fuse.h"
#include "passes/rewrites/offer_choices.h"
#include "passes/rewrites/pick_choices.h"
#include "passes/splits/apply_splits.h"
#include "tests/passes/lowered.h"

namespace tap::passes::test {
namespace {

using namespace tap::ir;

// Whole numbers: how often the greatest t occurs, and the sum of v where it does.
const std::string tally =
    "monoid tally(m: i64, s: i64, o: i64) {\n"
    "  identity (i64.min, 0, 0)\n"
    "  combine (a, b) = let m = max(a.m, b.m), p = if a.m == m then 1 else 0, q = if b.m == m then 1 else 0\n"
    "                   in (m, a.s * p + b.s * q, a.o * p + b.o * q)\n"
    "  fold[j] (t, w, v) = let m = max[j] t[j], e[j] = if t[j] == m then 1 else 0\n"
    "                      in (m, sum[j] e[j] * w[j], sum[j] e[j] * v[j]) }\n";

std::string weighted(std::int64_t keys, const std::string& range = "j") {
  return tally + fmt::format(
                     "program p(T: i64[5, {0}], V: i64[{0}, 3]) -> (M: i64[5], S: i64[5], Y: i64[5, 3]) {{\n"
                     "  (M[i], S[i], Y[i, c]) = tally[{1}] (T[i, j], 1, V[j, c]) }}\n",
                     keys, range);
}

struct Picked {
  Program before, after;  // as it is offered, and as it is picked
  Step step;
  std::vector<PlanProblem> problems;
};
Picked pick(const Program& program, Plan plan, PassContext context = {}) {
  Program offered = offer_choices(program, context).program;
  context.plan = std::move(plan);
  PassResult result = pick_choices(offered, context);
  return {offered, result.program, result.step, result.problems};
}
std::vector<std::string> rules_of(const Program& program) {
  std::vector<std::string> rules;
  for (const Operation& operation : program[program.main].operations)
    if (const RegionBody* region = program[operation.op].region())
      for (const Alternative& a : region->alternatives) rules.push_back(a.rule);
  return rules;
}
std::vector<std::string> operations_of(const Program& program) {
  std::vector<std::string> names;
  for (const Operation& operation : program[program.main].operations)
    names.push_back(program[program.main][operation.results[0]].name);
  return names;
}

TEST(MonoidFold, OffersPreserveResultsAndAreProved) {
  for (const std::string& text :
       {weighted(7), weighted(8), weighted(3), weighted(1), weighted(20), weighted(7, "j in 0..i+1"),
        weighted(12, "j in i..2*i+3"), weighted(9, "j in 0..2*i")}) {
    Program program = lowered(text);
    const std::size_t offers = rules_of(pick(program, {}).before).size();
    EXPECT_GE(offers, text == weighted(1) ? 1u : 2u) << text;
    for (std::uint32_t k = 0; k <= offers; ++k) {
      Picked picked = pick(program, {{PlannedChoice{"M", k}}});
      ASSERT_TRUE(picked.problems.empty());
      expect_certified(picked.before, picked.after, picked.step);
      expect_same_meaning(program, picked.after);
    }
  }
}

// What has no index c is computed once; with it, what is left is a contraction, and that is picked.
TEST(MonoidFold, ContractionIsPickedByDefault) {
  Program program = lowered(weighted(7));
  Picked picked = pick(program, {});
  EXPECT_EQ(rules_of(picked.before),
            (std::vector<std::string>{
                "the fold of `tally` over all of j and a contraction, assuming that the laws of `tally` hold",
                "the fold of `tally` in blocks of 4 of j and a contraction, assuming that the laws "
                "of `tally` hold"}));
  EXPECT_EQ(operations_of(picked.after), (std::vector<std::string>{"M.m", "M.e", "M.s", "M.o", "M"}));
  Program without = lowered(tally +
                            "program p(T: i64[5, 7]) -> (M: i64[5], S: i64[5], O: i64[5]) {\n"
                            "  (M[i], S[i], O[i]) = tally[j] (T[i, j], 1, T[i, j] * 2) }\n");
  EXPECT_EQ(operations_of(pick(without, {}).after), std::vector<std::string>{"M"});
  PassContext strict;
  strict.require_proof = true;
  EXPECT_EQ(operations_of(pick(program, {}, strict).after), std::vector<std::string>{"M"});
}

// combine(identity, x) = x: values of one block are copied, and not combined with the identity. Several blocks are combined.
TEST(MonoidFold, OneBlockIsNotCombined) {
  Program program = lowered(weighted(7));
  for (std::uint32_t k : {1u, 2u}) {
    Picked picked = pick(program, {{PlannedChoice{"M", k}}});
    const Graph& graph = picked.after[picked.after.main];
    EXPECT_EQ(picked.after[graph.operations.back().op].map() != nullptr, k == 1);
    expect_certified(picked.before, picked.after, picked.step);
  }
}

// A plan that mentions what was written keeps it.
TEST(MonoidFold, SplitOrFusedOperationsAreKept) {
  Program program = lowered(weighted(8));
  PlannedSplit split{"M", "j", Blocks{2}};
  EXPECT_EQ(operations_of(pick(program, {{split}}).after), std::vector<std::string>{"M"});
  EXPECT_EQ(operations_of(pick(program, {{PlannedFusion{{"M"}, {"i"}}}}).after), std::vector<std::string>{"M"});
  split.dim = "i";
  EXPECT_EQ(operations_of(pick(program, {{split}}).after).size(), 5u);
}

// Blocks of keys that come one after another: the fold inside each, and the state kept beside it.
TEST(MonoidFold, StreamsBlocks) {
  Program program = lowered(weighted(11, "j in 0..2*i+1"));
  Picked picked = pick(program, {{PlannedChoice{"M", 2}}});
  std::vector<std::string> all = operations_of(picked.after);
  PlannedResult fused = apply_fusions(picked.after, {{PlannedFusion{all, {"i", "j_block"}}}});
  ASSERT_TRUE(fused.problems.empty()) << fused.problems[0].message;
  EXPECT_EQ(groups_of(fused.program, fused.program[fused.program.main]),
            std::vector<std::string>{"over i, j_block: M.m, M.e, M.s, M.o, M -> M, S, Y"});
  expect_certified(picked.after, fused.program, fused.steps[0]);
  expect_same_meaning(program, fused.program);
  SplitResult splits = apply_splits(fused.program, {{PlannedSplit{"M", "i", Blocks{2}, Placement::threads}}});
  ASSERT_TRUE(splits.problems.empty()) << splits.problems[0].message;
  expect_same_meaning(program, splits.program);
}

// The blocks may go anywhere: partials of the combination.
TEST(MonoidFold, BlockDimsCanBeSplit) {
  Program program = lowered(weighted(20));
  Picked picked = pick(program, {{PlannedChoice{"M", 2}}});
  Plan plan;
  for (const char* part : {"M.m", "M.e", "M.s", "M.o", "M"})
    plan.decisions.push_back(PlannedSplit{part, "j_block", Blocks{2}});
  SplitResult splits = apply_splits(picked.after, plan);
  ASSERT_TRUE(splits.problems.empty()) << splits.problems[0].message;
  Program before = picked.after;
  for (std::size_t k = 0; k < splits.steps.size(); ++k) {
    expect_certified(before, splits.stages[k], splits.steps[k]);
    before = splits.stages[k];
  }
  expect_same_meaning(program, splits.program);
}

TEST(MonoidFold, RemarksGiveTheReason) {
  auto why = [](const std::string& text, bool strict_fp = false) {
    Program program = lowered(text);
    PassContext context;
    context.strict_fp = strict_fp;
    PassResult result = offer_choices(program, context);
    EXPECT_EQ(result.program, program);
    return result.remarks.empty() ? "nothing is said" : result.remarks[0].message;
  };
  // A prefix: as a scan it takes one step for each j.
  EXPECT_EQ(why(tally + "program p(T: i64[6]) -> (M: i64[6], S: i64[6], O: i64[6]) {\n"
                        "  (M[i], S[i], O[i]) = tally[j in 0..i+1] (T[j], 1, T[j]) }\n"),
            "the fold of `tally` is not offered: it is a scan, and its fold would take more operations");
  EXPECT_EQ(why(tally + "program p(T: i64[6]) -> (M: i64[], S: i64[], O: i64[]) {\n"
                        "  (M[], S[], O[]) = tally[j] (6 / T[j], 1, T[j]) }\n"),
            "the fold of `tally` is not offered: its term can fail and would be evaluated at more points");
  const std::string floats =
      "use std\nprogram p(T: f32[5, 7], V: f32[7, 3]) -> (M: f32[5], S: f32[5], Y: f32[5, 3]) {\n"
      "  (M[i], S[i], Y[i, c]) = online[j] (T[i, j], 1, V[j, c]) }\n";
  EXPECT_EQ(why(floats, true),
            "the fold of `online` is not offered: --strict-fp keeps the written order of float operations");
}

}  // namespace
}  // namespace tap::passes::test
