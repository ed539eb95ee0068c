// The cost model: what is counted, what is looked at again, and what links and formulas say.
#include <gtest/gtest.h>

#include "compiler/pipeline/pipeline.h"
#include "cost/machine/host.h"
#include "cost/model/links.h"
#include "cost/model/longest_step.h"
#include "cost/model/model.h"
#include "cost/model/recency.h"
#include "cost/work/traffic_walk.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::cost {
namespace {

pipeline::Compilation compiled(const std::string& text, const std::string& plan = "plan 2\n") {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  auto read = ir::parse_plan(plan);
  pipeline::Options options;
  options.plan = std::get<ir::Plan>(read);
  options.stop = pipeline::Stage::schedule;
  return pipeline::compile(outcome.compiled->program, options);
}

Cluster one_device() { return {{builtin({}, 4)}}; }

ProgramCost cost_of(Model& model, const pipeline::Compilation& made) {
  const std::vector<backend::Kernel>& kernels = made.lowered->kernels.kernels;
  return model.of(trace_of(*made.schedule, kernels), kernels);
}

const KernelWork work_of_first(const std::string& text) {
  const pipeline::Compilation made = compiled(text);
  const auto& call = std::get<ir::KernelCall>(made.schedule->sequences[0][0][0].what);
  return work_of(made.lowered->kernels.kernels[call.kernel], call.box, builtin({}, 1));
}

constexpr const char* chain =
    "program p(X: f32[64, 64], W: f32[64, 64], V: f32[64, 64]) -> (Z: f32[64, 64]) {\n"
    "  H[i, j] = sum[k] X[i, k] * W[k, j]\n  M[i] = max[j] H[i, j]\n  Z[i, j] = sum[k] (H[i, k] - M[i]) * V[k, j]\n}";

TEST(Cost, KernelsAreEvaluatedOnce) {
  Model model(one_device(), 1);
  const pipeline::Compilation made = compiled(chain);
  const Cost first = cost_of(model, made).total;
  const std::size_t evaluated = model.works().evaluations();
  EXPECT_EQ(evaluated, made.lowered->kernels.kernels.size());
  EXPECT_EQ(cost_of(model, made).total, first);
  EXPECT_EQ(model.works().evaluations(), evaluated);
}

TEST(Cost, ChangedPlanLineReevaluatesItsKernelsOnly) {
  Model model(one_device(), 1);
  cost_of(model, compiled(chain));
  const std::size_t evaluated = model.works().evaluations();
  // Blocks of rows: one more box of M's kernel, or a kernel of its own; nothing else.
  cost_of(model, compiled(chain, "plan 2\nsplit M dim i into 4 over sequential\n"));
  EXPECT_EQ(model.works().evaluations(), evaluated + 1);
}

TEST(Cost, EvaluationsDoNotGrowWithBlocks) {
  for (int blocks : {4, 64}) {
    Model model(one_device(), 1);
    cost_of(model, compiled("program p(X: f32[4096]) -> (Y: f32[4096]) { Y[i] = exp(X[i]) }",
                            "plan 2\nsplit Y dim i into " + std::to_string(blocks) + " over sequential\n"));
    EXPECT_EQ(model.works().evaluations(), 1u) << blocks;
  }
}

TEST(Cost, InstructionsAreCountedByKind) {
  const KernelWork work =
      work_of_first("program p(X: f32[1600]) -> (Y: f32[1600]) { Y[i] = exp(X[i]) / (X[i] * X[i] + 1) }");
  EXPECT_EQ(work.instructions.of(ElementType::f32, Instruction::exponential), 100);  // of 16 lanes
  EXPECT_EQ(work.instructions.of(ElementType::f32, Instruction::divide), 100);
  EXPECT_EQ(work.instructions.of(ElementType::f32, Instruction::arithmetic), 100);  // one, fused
  EXPECT_EQ(work.loads, 100);
  EXPECT_EQ(work.stores, 100);
  EXPECT_EQ(work.operations, 1600 * 4);
}

TEST(Cost, QuotientsByPowersOfTwoAreProducts) {
  for (const auto& [by, products] : {std::pair("4.0", 100), {"-0.5", 100}, {"3.0", 0}, {"0.0", 0}, {"Z[0]", 0}}) {
    const KernelWork work = work_of_first("program p(X: f32[1600], Z: f32[1]) -> (Y: f32[1600]) { Y[i] = X[i] / " +
                                          std::string(by) + " + Z[0] }");
    EXPECT_EQ(work.instructions.of(ElementType::f32, Instruction::arithmetic), products) << by;
    EXPECT_EQ(work.instructions.of(ElementType::f32, Instruction::divide), 100 - products) << by;
  }
}

TEST(Cost, TailsUseFewerLanes) {
  const KernelWork whole = work_of_first("program p(X: f32[32]) -> (Y: f32[32]) { Y[i] = X[i] * 2 }");
  const KernelWork ragged = work_of_first("program p(X: f32[33]) -> (Y: f32[33]) { Y[i] = X[i] * 2 }");
  EXPECT_EQ(whole.lanes_used / whole.lanes, 1);
  EXPECT_LT(ragged.lanes_used / ragged.lanes, 0.8);
}

// Nothing is summed, but each result is written, and the loops around the sum run.
TEST(Cost, AnEmptySumIsNotForFree) {
  const pipeline::Compilation made =
      compiled("program p(X: f32[8, 8, 5]) -> (Y: f32[8, 8]) { Y[i, j] = sum[k] X[i, j, k] }",
               "plan 2\nsplit Y dim k into [0, 0, 5] over threads\n");
  const auto& call = std::get<ir::KernelCall>(made.schedule->sequences[0][0][0].what);
  ASSERT_TRUE(call.box.empty());
  const KernelWork work = work_of(made.lowered->kernels.kernels[call.kernel], call.box, builtin({}, 1));
  EXPECT_GT(work.busy, 0);
  EXPECT_GT(work.stores, 0);
  EXPECT_EQ(work.operations, 0);
}

TEST(Cost, DependentOperationsWaitForTheirLatency) {
  auto outcome = tap::test::compile_text("program p(X: f32[4096]) -> (Y: f32[]) { Y[] = sum[i] X[i] }");
  pipeline::Options options;
  options.stop = pipeline::Stage::schedule;
  Model model(one_device(), 1);
  const double free = cost_of(model, pipeline::compile(outcome.compiled->program, options)).total.waiting;
  options.caution.strict_fp = true;
  const double strict = cost_of(model, pipeline::compile(outcome.compiled->program, options)).total.waiting;
  EXPECT_GT(strict, 10 * free);
}

// Each cell comes once from memory where a cache keeps what is read again.
TEST(Cost, CachesKeepDataThatFits) {
  const KernelWork work =
      work_of_first("program p(X: f32[512, 512]) -> (Y: f32[512, 512]) { Y[i, j] = X[i, j] + X[i, 0] }");
  for (const TensorWork& tensor : work.tensors) {
    EXPECT_EQ(tensor.bytes, 512 * 512 * 4);
    EXPECT_NEAR(tensor.missed.back(), tensor.bytes, tensor.bytes / 10);
  }
  EXPECT_EQ(share_kept(10, 100), 1);
  EXPECT_EQ(share_kept(200, 100), 0);
}

// Two threads hold twice as much of a cache that they share as one.
TEST(Cost, ThreadsShareTheLastCache) {
  const pipeline::Compilation made =
      compiled("program p(X: f32[1500, 1000]) -> (Y: f32[1500, 1000]) { Y[i, j] = X[i, j] * 2 }");  // 12 MB
  auto memory_of = [&](std::int64_t threads) {
    Model model({{builtin({}, threads)}}, threads);
    return cost_of(model, made).total.bytes.back();
  };
  EXPECT_GT(memory_of(1), 4e6);
  EXPECT_LT(memory_of(2), 1e6);
}

// The tiles of a kernel are the same in each run, so that a thread finds its parts in its own caches; what all threads read, or
// another kernel wrote, may be in the cache of any.
TEST(Cost, ThreadsKeepTheirPartsBetweenRuns) {
  auto from_l3 = [](const char* text) {
    Model model({{builtin({}, 2)}}, 2);
    return cost_of(model, compiled(text)).total.bytes.at(2);
  };
  EXPECT_LT(from_l3("program p(X: f32[80, 1000]) -> (Y: f32[80, 1000]) { Y[i, j] = exp(exp(X[i, j])) }"), 1e5);
  EXPECT_GT(from_l3("program p(X: f32[300, 1000]) -> (Y: f32[300, 1000], Z: f32[300, 1000]) {\n"
                    "  Y[i, j] = X[i, j] * 2\n"
                    "  Z[i, j] = max[k] Y[k, j] + X[i, j] }"),
            1e6);
}

// The same bytes in the same order, but in runs of nine lines.
TEST(Cost, ShortRunsTakeLonger) {
  auto share_of_starts = [](const char* text) {
    double missed = 0, starts = 0;
    for (const TensorWork& t : work_of_first(text).tensors)
      if (t.reads) missed += t.missed[1], starts += t.starts[1];
    return starts / missed;
  };
  EXPECT_LT(share_of_starts("program p(X: f32[2600, 8, 144]) -> (y: f32[2600]) { y[b] = sum[c, i] X[b, c, i] }"), 0.05);
  EXPECT_NEAR(share_of_starts("program p(X: f32[2600, 8, 144]) -> (y: f32[8]) { y[c] = sum[b, i] X[b, c, i] }"),
              2.0 / 9, 0.05);
}

// A row's data is loaded by the first of its loops; the second one, which computes, does not hide that.
TEST(Cost, LoopsAfterEachOtherDoNotOverlap) {
  const pipeline::Compilation made = compiled(
      "program p(X: f32[1000, 6000]) -> (s: f32[1000]) { m[i] = max[j] X[i, j]\n s[i] = sum[j] exp(X[i, j] - m[i]) }",
      "plan 2\nfuse m, s over i\n");
  const auto& call = std::get<ir::KernelCall>(made.schedule->sequences[0][0][0].what);
  const KernelWork work = work_of(made.lowered->kernels.kernels[call.kernel], call.box, builtin({}, 1));
  EXPECT_EQ(std::ranges::count_if(work.phases, [](const PhaseWork& p) { return p.seconds > 0; }), 2);
  EXPECT_EQ(work.phase_runs, 1000);
  Model model(one_device(), 1);
  const Cost cost = cost_of(model, made).total;
  EXPECT_LT(cost.hidden, 0.3 * std::min(cost.compute, cost.moving.back()));
}

// Values of a group's tile use two blocks of memory in turns. A step finds what the step before wrote, though the tile's input,
// both blocks and its result do not fit together. Where not even one block fits, every step misses.
TEST(Cost, StepsOfATileFindWhatTheStepBeforeWrote) {
  const pipeline::Compilation made = compiled(
      "program p(X: f32[4096, 64]) -> (Y: f32[4096, 64]) { Y = iterate 12 (u = X) {\n"
      "  v[i, j] = u[i - 1, j else 0] + u[i, j] + u[i + 1, j else 0]\n  v } }",
      "plan 2\nunroll Y 6\nfuse Y/v.0, Y/v.1, Y/v.2, Y/v.3, Y/v.4, Y/v.5 over i\n");
  const ir::KernelCall* call = nullptr;  // in the trips, after X is copied
  for (const auto& sequence : made.schedule->sequences)
    for (const auto& batch : sequence)
      for (const ir::ScheduledTask& task : batch)
        if (auto* found = std::get_if<ir::KernelCall>(&task.what)) call = found;
  ASSERT_TRUE(call);
  const backend::Kernel& kernel = made.lowered->kernels.kernels[call->kernel];
  Device device = builtin({}, 1);
  double block = 0;  // bytes of a tile
  for (const TensorWork& t : work_of(kernel, call->box, device).tensors)
    if (t.local) block = std::max(block, t.bytes);
  auto missed_blocks = [&](double cached_blocks) {
    device.levels[1].bytes = cached_blocks * block;
    double missed = 0;
    for (const TensorWork& t : work_of(kernel, call->box, device).tensors)
      if (t.local) missed += t.missed[1];
    return missed;
  };
  EXPECT_LT(missed_blocks(3.4), missed_blocks(1) / 5);
}

TEST(Cost, MoreThreadsAreFasterUntilWorkRunsOut) {
  const pipeline::Compilation made = compiled(
      "program p(X: f32[4096, 64], W: f32[64, 64]) -> (Y: f32[4096, 64]) { Y[i, j] = sum[k] X[i, k] * W[k, j] }");
  double before = 1e9;
  for (int threads : {1, 2, 4}) {
    Model model(one_device(), threads);
    const double seconds = cost_of(model, made).total.total();
    EXPECT_LT(seconds, before) << threads;
    before = seconds;
  }
  Model many(one_device(), 64);  // of a machine with four
  EXPECT_GE(cost_of(many, made).total.total(), before * 0.9);
}

double longest_step_of(const std::string& text, const std::string& plan = "plan 2\n") {
  const pipeline::Compilation made = compiled(text, plan);
  return longest_step(*made.schedule, made.lowered->kernels.kernels, one_device());
}

TEST(LongestStep, IsTheLongestOfAllBatches) {
  const std::string small = "program p(X: f32[300, 300]) -> (Y: f32[300, 300]) { Y[i, j] = sum[k] X[i, k] * X[k, j] }";
  const std::string large =
      "program p(X: f32[300, 300], Z: f32[900, 900]) -> (Y: f32[300, 300], W: f32[900, 900]) {\n"
      "  Y[i, j] = sum[k] X[i, k] * X[k, j]\n  V[i, j] = sum[k] Z[i, k] * Z[k, j]\n"
      "  W[i, j] = sum[k] V[i, k] * V[k, j] }";
  const pipeline::Compilation made = compiled(large);
  Model model(one_device(), 1);
  const double all = cost_of(model, made).total.total();
  EXPECT_GT(longest_step_of(large), 10 * longest_step_of(small));
  EXPECT_GT(longest_step_of(large), all / 3);
  EXPECT_LT(longest_step_of(large), all * 0.6);  // the two large products follow one another
}

TEST(LongestStep, IsOfOneTrip) {
  auto text = [](int trips) {
    return "program p(X: f32[300, 300]) -> (Y: f32[300, 300]) { Y = iterate " + std::to_string(trips) +
           " (U = X) { V[i, j] = sum[k] U[i, k] * X[k, j]\n V } }";
  };
  const double few = longest_step_of(text(10)), many = longest_step_of(text(1000));
  EXPECT_GT(few, 0);
  EXPECT_NEAR(many, few, few / 5);
}

TEST(LongestStep, IsNothingWithoutTasks) { EXPECT_EQ(longest_step({.sequences = {{}}}, {}, one_device()), 0); }

// One thread does what all devices of a batch do.
TEST(LongestStep, CountsAllDevicesOfABatch) {
  const std::string text =
      "program p(X: f32[600, 600], Z: f32[600, 600]) -> (Y: f32[600, 600]) { Y[i, j] = sum[k] X[i, k] * Z[k, j] }";
  const double whole = longest_step_of(text);
  const double blocks = longest_step_of(text, "plan 2\nmesh m = [x: 4]\nsplit Y dim i into 4 over axis m.x\n");
  EXPECT_NEAR(blocks, whole, whole / 2);
}

// The first thread begins at once; the others help when they are awake.
TEST(Cost, LittleWorkTakesAsLongAsOnOneThread) {
  double before = 0;
  for (int cells = 16; cells <= 1 << 22; cells *= 4) {
    const pipeline::Compilation made = compiled("program p(X: f32[" + std::to_string(cells) + "]) -> (Y: f32[" +
                                                std::to_string(cells) + "]) { Y[i] = exp(X[i]) }");
    Model one(one_device(), 1), four(one_device(), 4);
    const double alone = cost_of(one, made).total.total(), together = cost_of(four, made).total.total();
    EXPECT_LE(together, alone) << cells;
    EXPECT_GT(together, before) << cells;
    before = together;
    if (alone < builtin({}, 4).wake) { EXPECT_EQ(together, alone) << cells; }
    if (alone > 100 * builtin({}, 4).wake) { EXPECT_LT(together, alone / 2) << cells; }
  }
}

// Of 1024 sums with 1, 2, … 1024 terms, parts have as much work as there is, on average.
TEST(Cost, WorkThatGrowsWithThePositionIsDivided) {
  const pipeline::Compilation made = compiled(
      "program p(X: f32[1024, 64], W: f32[1024, 1024]) -> (Y: f32[1024, 64]) { Y[i, j] = sum[k in 0..i+1] W[i, k] * "
      "X[k, j] }");
  for (int threads : {1, 2, 4}) {
    Model model(one_device(), threads);
    EXPECT_NEAR(cost_of(model, made).total.operations, 2. * 64 * 1024 * 1025 / 2, 0.02 * 64 * 1024 * 1024) << threads;
  }
}

TEST(Cost, ReuseDistances) {
  Recency recency(1000);
  recency.touch(1, 100);
  recency.touch(2, 300);
  recency.touch(3, 200);
  EXPECT_EQ(recency.since(1), 500);
  EXPECT_EQ(recency.since(3), 0);
  EXPECT_GT(recency.since(9), 1000);
  recency.exchange(1, 3);
  EXPECT_EQ(recency.since(1), 0);
  recency.touch(2, 300, 7);
  EXPECT_EQ(recency.since(1), 300);
  EXPECT_EQ(recency.user(2), 7u);
  EXPECT_EQ(recency.user(1), std::nullopt);
}

// What was accessed last is a small part of it.
TEST(Cost, ReuseDistancesOfParts) {
  Recency recency(1000);
  recency.touch(1, 400);
  recency.touch(2, 300);
  recency.touch(1, 10);
  EXPECT_EQ(recency.since(1), 300);
  EXPECT_EQ(recency.since(2), 10);
  recency.touch(3, 50);
  recency.touch(1, 10);  // the same part, as far as is known
  EXPECT_EQ(recency.since(1), 350);
  recency.touch(1, 400);
  EXPECT_EQ(recency.since(1), 0);
}

TEST(Cost, InnermostLinkBetweenDevices) {
  Cluster nodes{{builtin({}, 1)}};
  nodes.links = {{"switch", 8, 1e-6, 400e9, false, false}, {"network", 4, 5e-6, 25e9, true, false}};
  EXPECT_EQ(route_between(nodes, 3, 5).bandwidth, 400e9);
  EXPECT_EQ(route_between(nodes, 3, 11).bandwidth, 25e9 / 4);  // shared by four nodes
  EXPECT_EQ(route_between(nodes, 3, 11).latency, 5e-6);
  EXPECT_EQ(nodes.count(), 32);
  nodes.pairs = {{3, 11, 1e-7, 1e12}};
  EXPECT_EQ(route_between(nodes, 11, 3).bandwidth, 1e12);
  Cluster ring{{builtin({}, 1)}};
  ring.links = {{"ring", 8, 1e-6, 1e9, false, true}};
  EXPECT_DOUBLE_EQ(route_between(ring, 0, 7).latency, 1e-6);
  EXPECT_DOUBLE_EQ(route_between(ring, 0, 4).latency, 4e-6);
}

TEST(Cost, Formulas) {
  const std::vector<Amount> values = {{"calls", 3}, {"bytes_memory", 1e6}, {"compute", 2}};
  auto value = [&](const char* text) { return parse_formula(text).of(values); };
  EXPECT_EQ(value("2 + 3 * calls"), 11);
  EXPECT_EQ(value("(2 + 3) * calls - 1"), 14);
  EXPECT_EQ(value("max(calls, min(bytes_memory, 7)) / 2"), 3.5);
  EXPECT_EQ(value("1e-3 * bytes_memory"), 1000);
  EXPECT_EQ(value("calls / 0"), 0);
  for (const char* wrong : {"", "1 +", "min(1)", "(1", "1 2", "1e999", "A"}) {
    auto read = read_formula(wrong);
    EXPECT_TRUE(std::holds_alternative<FormulaError>(read)) << wrong;
  }
  EXPECT_TRUE(std::holds_alternative<FormulaError>(read_formula(std::string(100'000, '('))));
}

TEST(Cost, AddedAndReplacedTerms) {
  const pipeline::Compilation made = compiled("program p(X: f32[64]) -> (Y: f32[64]) { Y[i] = X[i] * 2 }");
  Cluster cluster = one_device();
  Model plain(cluster, 1);
  cluster.terms = {{"tax", "0.5 * calls"}, {"compute", "1 * calls"}};
  Model changed(cluster, 1);
  const ProgramCost before = cost_of(plain, made), after = cost_of(changed, made);
  EXPECT_EQ(after.total.compute, 1);
  EXPECT_NEAR(after.total.total(), before.total.total() - before.total.compute + 1.5, 1e-9);
}

TEST(Cost, CgroupLimits) {
  EXPECT_EQ(memory_allowed("max"), 0);
  EXPECT_EQ(memory_allowed("1048576"), 1048576);
  EXPECT_GE(usable_threads(), 1);
  EXPECT_GT(usable_memory(), 1e6);
}

}  // namespace
}  // namespace tap::cost
