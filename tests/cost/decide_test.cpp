// What the cost model decides: folds in blocks and groups, as lines of a plan.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/pipeline/pipeline.h"
#include "cost/decide/decide.h"
#include "cost/decide/part.h"
#include "cost/decide/pricer.h"
#include "ir/text.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::cost {
namespace {

ir::Program built(const std::string& text) {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  return outcome.compiled->program;
}

ir::Plan plan_of(const std::string& lines) { return std::get<ir::Plan>(ir::parse_plan("plan 2\n" + lines)); }

DecideOptions options_for(const std::string& lines, std::size_t evaluations = usual_evaluations) {
  DecideOptions options;
  options.context.plan = plan_of(lines);
  options.simplify = passes::lowering();
  options.cluster = {{builtin({}, 2)}};
  options.threads = 2;
  options.evaluations = evaluations;
  return options;
}

std::string decided(const std::string& text, const std::string& lines = "",
                    std::size_t evaluations = usual_evaluations) {
  return ir::print(decide(built(text), options_for(lines, evaluations)).plan);
}

constexpr const char* rows =
    "program p(X: f32[4096, 4096]) -> (Y: f32[4096, 4096]) {\n"
    "  m[i] = max[k] X[i, k]\n  s[i] = sum[k] exp(X[i, k] - m[i])\n  Y[i, j] = exp(X[i, j] - m[i]) / s[i]\n}";

TEST(Decide, RowsLargerThanTheCacheAreReadOnce) { EXPECT_EQ(decided(rows), "plan 2\nfuse m, s, Y over i\n"); }

// A last block that is smaller than the others repeats no work.
TEST(Decide, AnyNumberOfRowsIsFused) {
  for (const char* rows_and_columns : {"20000, 1000", "27489, 256", "1001, 4096", "65, 100000"}) {
    const std::string size = "4096, 4096";
    std::string text = rows;
    for (std::size_t at; (at = text.find(size)) != std::string::npos;) text.replace(at, size.size(), rows_and_columns);
    EXPECT_EQ(decided(text), "plan 2\nfuse m, s, Y over i\n") << rows_and_columns;
  }
}

TEST(Decide, TheSameProgramHasTheSamePlan) { EXPECT_EQ(decided(rows), decided(rows)); }

// Neither how many programs are priced at a time, nor what is priced ahead and not asked for, changes a decision.
TEST(Decide, AnyNumberOfThreadsDecidesTheSame) {
  constexpr const char* layers =
      "use std\nprogram p(X: f32[300, 500], W: f32[500, 700], V: f32[700, 500]) -> (Y: f32[300, 500]) {\n"
      "  H = gelu(matmul(X, W))\n  Z = matmul(H, V)\n  Y = softmax(Z)\n}";
  for (const char* text : {rows, layers})
    for (std::size_t most : {1, 2, 3, 5, 8, 32}) {
      DecideOptions options = options_for("", most);
      const Decided alone = decide(built(text), options);
      SpareThreads spare(3);
      options.spare = &spare;
      const Decided together = decide(built(text), options);
      EXPECT_EQ(ir::print(together.plan), ir::print(alone.plan)) << most;
      EXPECT_EQ(together.evaluations, alone.evaluations) << most;
      EXPECT_EQ(together.considered.size(), alone.considered.size()) << most;
    }
}

TEST(Decide, OperationsOfThePlanAreKept) {
  EXPECT_EQ(decided(rows, "split s dim i into 4 over threads\n"), "plan 2\nsplit s dim i into 4 over threads\n");
  EXPECT_EQ(decided(rows, "fuse m, s over i\n"), "plan 2\nfuse m, s over i\n");
}

TEST(Decide, NoEvaluationsNoDecisions) { EXPECT_EQ(decided(rows, "", 0), "plan 2\n"); }

TEST(Decide, EvaluationsStayWithinTheLimit) {
  const ir::Program program = built(rows);
  for (std::size_t most : {1, 2, 3, 8}) EXPECT_LE(decide(program, options_for("", most)).evaluations, most);
}

TEST(Decide, BodiesOfIterates) {
  EXPECT_EQ(decided("program p(X: f32[2048, 2048]) -> (Y: f32[2048, 2048]) {\n"
                    "  Y = iterate 3 (x = X) {\n"
                    "    m[i] = max[k] x[i, k]\n    y[i, j] = exp(x[i, j] - m[i])\n    y\n  }\n}"),
            "plan 2\nfuse Y/m, Y/y over i\n");
}

// Steps run several at a time if what they move is larger than the caches.
TEST(Decide, StepsOfLargeGridsRunSeveralAtATime) {
  auto grid = [](int n, int steps) {
    return fmt::format(
        "program p(X: f32[{0}, {0}]) -> (Y: f32[{0}, {0}]) {{\n  Y = iterate {1} (x = X) {{\n"
        "    y[i, j] = x[i-1, j else 0] + x[i+1, j else 0] + x[i, j-1 else 0] + x[i, j+1 else 0]\n    y\n  }}\n}}",
        n, steps);
  };
  const std::string large = decided(grid(8192, 50));
  EXPECT_NE(large.find("unroll Y "), std::string::npos) << large;
  EXPECT_NE(large.find("fuse Y"), std::string::npos) << large;
  EXPECT_EQ(decided(grid(512, 50)), "plan 2\n");
  // Few steps run all at once.
  for (int steps : {2, 3, 5}) {
    const std::string few = decided(grid(8192, steps));
    EXPECT_EQ(few.substr(0, 23), fmt::format("plan 2\nunroll Y {}\nfuse ", steps)) << few;
  }
  EXPECT_EQ(decided(grid(8192, 50), "unroll Y 5\n").substr(0, 30), "plan 2\nunroll Y 5\nfuse Y/y.0, ");
}

TEST(Decide, StepsWhoseBorderHasWritersOfItsOwnRunSeveralAtATime) {
  const std::string plan = decided(
      "program p(X: f32[8192, 8192]) -> (Y: f32[8192, 8192]) {\n  Y = iterate 50 (x = X) {\n"
      "    y[i, j] = x[i-1, j] + x[i+1, j] + x[i, j-1] + x[i, j+1] for i in 1..8191, j in 1..8191\n"
      "    y[i, j] = x[i, j] for i in 0..1, j in 0..8192\n    y[i, j] = x[i, j] for i in 8191..8192, j in 0..8192\n"
      "    y[i, j] = x[i, j] for i in 1..8191, j in 0..1\n    y[i, j] = x[i, j] for i in 1..8191, j in 8191..8192\n"
      "    y\n  }\n}");
  EXPECT_NE(plan.find("unroll Y "), std::string::npos) << plan;
  EXPECT_NE(plan.find("fuse Y"), std::string::npos) << plan;
}

// Each of two devices has 4096 x 8192 of the matrix, 128 MiB.
std::string rows_over(const std::string& of_input) {
  return "mesh d = [x: 2]\nprogram p(X: f32[4096, 8192] @ " + of_input +
         ") -> (Y: f32[4096, 8192]) {\n  m[i] = max[k] X[i, k]\n" +
         "  s[i] = sum[k] exp(X[i, k] - m[i])\n  Y[i, j] = exp(X[i, j] - m[i]) / s[i]\n}";
}

TEST(Decide, GroupsKeepTheDevicesOfTheirOperations) {
  EXPECT_EQ(decided(rows_over("d[{x}, {}]")), "plan 2\nfuse m, s, Y over i\n");
  // The maxima of a row are partials of both devices.
  EXPECT_EQ(decided(rows_over("d[{}, {x}]")), "plan 2\n");
}

TEST(Decide, SplitsOverAMeshStayOfTheirGroup) {
  const std::string text =
      "mesh d = [x: 2]\nprogram p(X: f32[4096, 8192]) -> (Y: f32[4096, 8192]) {\n"
      "  m[i] = max[k] X[i, k]\n  s[i] = sum[k] exp(X[i, k] - m[i])\n"
      "  Y[i, j] = exp(X[i, j] - m[i]) / s[i]\n}";
  const std::string lines = "split s dim i into 2 over axis d.x\nsplit Y dim i into 2 over axis d.x\n";
  EXPECT_EQ(decided(text, "split m dim i into 2 over axis d.x\n" + lines),
            "plan 2\nsplit Y dim i into 2 over axis d.x\nfuse m, s, Y over i\n");
  // `m` on one device, in other blocks, or in partials, is not computed with the rows.
  EXPECT_EQ(decided(text, "place m over devices {0}\n" + lines),
            "plan 2\nplace m over devices {0}\nsplit Y dim i into 2 over axis d.x\nfuse s, Y over i\n");
  EXPECT_EQ(decided(text, "split m dim i into [0, 1000, 4096] over axis d.x\n" + lines),
            "plan 2\nsplit m dim i into [0, 1000, 4096] over axis d.x\nsplit Y dim i into 2 over axis d.x\n"
            "fuse s, Y over i\n");
  EXPECT_EQ(decided(text, "split m dim k into 2 over axis d.x\n" + lines),
            "plan 2\nsplit m dim k into 2 over axis d.x\nsplit Y dim i into 2 over axis d.x\nfuse s, Y over i\n");
}

// Each device has some rows of L; a group over the rows of Y would compute all of L on each device.
TEST(Decide, AValueThatDevicesGatherIsNotComputedOnEach) {
  const std::string plan = decided(
      "mesh d = [x: 4]\n"
      "program p(Q: f32[2048, 64] @ d[{x}, {}], K: f32[512, 64] @ d[{x}, {}])\n"
      "    -> (Y: f32[2048] @ d[{x}]) {\n"
      "  L[j, c] = K[j, c] + 1\n  A[i, j] = sum[c] Q[i, c] * L[j, c]\n"
      "  Y[i] = max[j] A[i, j]\n}");
  EXPECT_EQ(plan, "plan 2\nfuse A, Y over i, j\n");
  // Also if everything fits in a cache.
  EXPECT_NE(decided("mesh d = [x: 4]\n"
                    "program p(Q: f64[8, 4] @ d[{x}, {}], K: f64[8, 4] @ d[{x}, {}]) -> (Y: f64[8] @ d[{x}]) {\n"
                    "  L[j, c] = K[j, c] + 1\n  A[i, j] = sum[c] Q[i, c] * L[j, c]\n"
                    "  Y[i] = max[j] A[i, j]\n}")
                .find("fuse A, Y over"),
            std::string::npos);
}

TEST(Decide, ValuesBeyondAnyMemoryAreNotPriced) {
  EXPECT_EQ(decided("program p(X: f32[4611686018427387904]) -> (Z: f32[4611686018427387904]) {\n"
                    "  m[] = max[k] X[k]\n  Z[i] = X[i] - m[]\n}"),
            "plan 2\n");
}

// Blocks decide how sums are rounded: their number follows from the sizes alone.
TEST(Decide, LongReductionsToFewResultsAreSplit) {
  auto reduction = [](const char* type, const char* reduced, const char* tail = "") {
    return fmt::format("program p(X: {0}, Z: {0}) -> (s: f32[]) {{ s[] = ({1}){2} }}", std::string(type),
                       std::string(reduced), std::string(tail));
  };
  const std::string sum = reduction("f32[16777216]", "sum[i] X[i] * Z[i]");
  EXPECT_EQ(decided(sum), "plan 2\nsplit s dim i into 64 over threads\n");
  DecideOptions options = options_for("");
  for (std::size_t threads : {1, 2, 48}) {
    options.threads = threads;
    options.cluster = {{builtin({}, static_cast<int>(threads))}};
    EXPECT_EQ(ir::print(decide(built(sum), options).plan), decided(sum)) << threads;
  }
  EXPECT_EQ(decided(reduction("f32[40000]", "sum[i] X[i] * Z[i]")), "plan 2\n");
  EXPECT_EQ(decided(reduction("f32[262144]", "sum[i] X[i] * Z[i]")), "plan 2\nsplit s dim i into 8 over threads\n");
  EXPECT_EQ(decided(reduction("f32[16, 1048576]", "max[i, j] X[i, j]")),
            "plan 2\nsplit s dim i into 16 over threads\n");
  EXPECT_EQ(decided(sum, "split s dim i into 4 over threads\n"), "plan 2\nsplit s dim i into 4 over threads\n");
  EXPECT_EQ(decided(sum, "", 0), "plan 2\n");
  options.context.strict_fp = true;
  EXPECT_EQ(ir::print(decide(built(sum), options).plan), "plan 2\n");
  EXPECT_EQ(ir::print(decide(built(reduction("f32[16777216]", "max[i] X[i]")), options).plan),
            "plan 2\nsplit s dim i into 64 over threads\n");
  // Blocks of whole lines, if 32 or more have these.
  EXPECT_EQ(decided(reduction("f32[1000000]", "max[i] X[i]")), "plan 2\nsplit s dim i into 30 over threads\n");
  EXPECT_EQ(decided(reduction("f32[6000000]", "sum[i] X[i] * Z[i]")), "plan 2\nsplit s dim i into 60 over threads\n");
  EXPECT_EQ(decided("program p(X: f64[6000000]) -> (s: f64[]) { s[] = sum[i] X[i] }"),
            "plan 2\nsplit s dim i into 60 over threads\n");
  EXPECT_EQ(decided(reduction("f32[499979, 6]", "max[i, j] X[i, j]")), "plan 2\nsplit s dim i into 50 over threads\n");
  EXPECT_EQ(decided(reduction("f32[6000000]", "sum[i] X[i] * Z[5999999 - i]")),
            "plan 2\nsplit s dim i into 60 over threads\n");
  EXPECT_EQ(decided(reduction("f32[7, 100008]", "max[i, j] X[i, j]")), "plan 2\nsplit s dim i into 7 over threads\n");
  EXPECT_EQ(decided(reduction("f32[2100097]", "max[i] X[i]")), "plan 2\nsplit s dim i into 64 over threads\n");
  const char* rows = "program p(X: f32[{0}, 1048576]) -> (s: f32[{0}]) {{ s[i] = sum[j] X[i, j] }}";
  EXPECT_EQ(decided(fmt::format(fmt::runtime(rows), 4)), "plan 2\nsplit s dim j into 16 over threads\n");
  EXPECT_EQ(decided(fmt::format(fmt::runtime(rows), 33)), "plan 2\n");
}

// A scatter cannot share the cells that it selects: threads combine copies of them, if each has many points for a cell.
TEST(Decide, ScattersToFewCellsAreSplit) {
  auto histogram = [](std::int64_t points, std::int64_t cells, const char* rows = "") {
    return fmt::format(
        "program p(to: i64[{0}{1}]) -> (y: i64[{0}{2}]) {{\n  y[{3}c] = sum[i] (if to[{3}i] == c then 1 else 0) "
        "for c in 0..{2}\n}}",
        rows, points, cells, std::string(rows).empty() ? "" : "r, ");
  };
  EXPECT_EQ(decided(histogram(1 << 17, 2)), "plan 2\nsplit y dim i into 4 over threads\n");
  EXPECT_EQ(decided(histogram(1 << 22, 2)), "plan 2\nsplit y dim i into 64 over threads\n");
  EXPECT_EQ(decided(histogram(1 << 22, 256)), "plan 2\nsplit y dim i into 64 over threads\n");
  EXPECT_EQ(decided(histogram(1 << 22, 1 << 14)), "plan 2\nsplit y dim i into 16 over threads\n");
  EXPECT_EQ(decided(histogram(1 << 22, 1 << 18)), "plan 2\n");
  EXPECT_EQ(decided(histogram(1 << 20, 256, "4, ")), "plan 2\nsplit y dim i into 16 over threads\n");
  EXPECT_EQ(decided(histogram(1 << 20, 256, "40, ")), "plan 2\n");
}

TEST(Decide, EqualLayersArePricedOnce) {
  // Rows, then columns: no group has operations of two layers.
  auto layers = [](int n) {
    std::string text = "program p(X0: f32[1024, 1024]) -> (X" + std::to_string(n) + ": f32[1024, 1024]) {\n";
    for (int k = 0; k < n; ++k) {
      const std::string now = std::to_string(k), next = std::to_string(k + 1);
      const std::string kept = k % 2 ? "j" : "i", reduced = k % 2 ? "i" : "j";
      text += fmt::format("  m{0}[{1}] = max[{2}] X{0}[i, j]\n  X{3}[i, j] = exp(X{0}[i, j] - m{0}[{1}])\n", now, kept,
                          reduced, next);
    }
    return text + "}";
  };
  const std::size_t few = decide(built(layers(4)), options_for("", 1000)).evaluations;
  EXPECT_LE(decide(built(layers(20)), options_for("", 1000)).evaluations, 2 * few);
}

TEST(Decide, LongAttentionIsStreamed) {
  const std::string text =
      "use std\nprogram p(Q: f32[1, 8192, 64], K: f32[1, 8192, 64], V: f32[1, 8192, 64]) -> (Y: f32[1, 8192, 64]) {\n"
      "  Y = attention(Q, K, V)\n}";
  const std::string plan = decided(text);
  EXPECT_NE(plan.find("choose Y.s "), plan.npos) << plan;
  EXPECT_NE(plan.find("j_block"), plan.npos) << plan;
}

// However small its share of the whole is.
TEST(Decide, AttentionNextToALargeProductIsStreamed) {
  const std::string text =
      "use std\nprogram p(Q: f32[1, 8192, 64], K: f32[1, 8192, 64], V: f32[1, 8192, 64],\n"
      "  A: f32[8192, 8192], B: f32[8192, 8192]) -> (Y: f32[1, 8192, 64], C: f32[8192, 8192]) {\n"
      "  Y = attention(Q, K, V)\n  C[i, j] = sum[k] A[i, k] * B[k, j]\n}";
  const std::string plan = decided(text);
  EXPECT_NE(plan.find("choose Y.s "), plan.npos) << plan;
}

// Two products save operations, and cost two tasks with few of them.
TEST(Decide, WhatWasWrittenIsKeptWhereAnotherOrderCostsMuchMore) {
  auto text = [](int i, int j, int k, int r) {
    return fmt::format(
        "program p(X: f32[{0}, {1}, {2}], B: f32[{1}, {3}], C: f32[{2}, {3}]) -> (Y: f32[{0}, {3}]) {{\n"
        "  Y[i, r] = sum[j, k] X[i, j, k] * B[j, r] * C[k, r]\n}}",
        i, j, k, r);
  };
  EXPECT_EQ(decided(text(5, 2, 3, 453)), "plan 2\nchoose Y 0\n");
  EXPECT_EQ(decided(text(64, 48, 40, 32)).find("choose"), std::string::npos);
  EXPECT_EQ(decided(text(5, 2, 3, 453), "", 0), "plan 2\n");
  EXPECT_EQ(decided(text(5, 2, 3, 453), "choose Y 1\n"), "plan 2\nchoose Y 1\n");
}

// The lines of what was taken are those of the plan, and nothing that is clearly better was left.
TEST(Decide, ConsideredAlternativesAreRecorded) {
  const Decided found = decide(built(rows), options_for(""));
  ASSERT_EQ(found.considered.size(), 1u);
  const Consideration& about = found.considered[0];
  EXPECT_EQ(about.operations, (std::vector<std::string>{"m", "s", "Y"}));
  ASSERT_GT(about.alternatives.size(), 2u);
  EXPECT_TRUE(about.alternatives[0].lines.empty());  // the operations as they are
  EXPECT_EQ(about.alternatives[about.taken].lines, found.plan.decisions);
  for (const Alternative& other : about.alternatives) {
    EXPECT_FALSE(is_better(other.price, about.alternatives[about.taken].price));
    EXPECT_DOUBLE_EQ(other.price.cost.total(), other.price.seconds);
  }
}

TEST(Decide, PartHasTheRightInputsAndOutputs) {
  const ir::Program program = passes::run(passes::lowering(), built(rows)).program;
  const ir::Graph& graph = program[program.main];
  const ir::Program part =
      part_of(program, graph, ir::def_use(graph), {ir::OperationId(0), ir::OperationId(1)});  // m and s
  EXPECT_EQ(part[part.main].inputs.size(), 1u);
  EXPECT_EQ(part[part.main].outputs.size(), 2u);
}

TEST(Decide, DoubledMemoryMustSaveATenthOfTheTime) {
  EXPECT_TRUE(is_better({0.9, 0, 0}, {1, 0, 0}));
  EXPECT_FALSE(is_better({0.99, 0, 0}, {1, 0, 0}));
  EXPECT_TRUE(is_better({1.2, 1e7, 1e7}, {1, 1e9, 1e7}));
  EXPECT_FALSE(is_better({1.2, 1e8, 1e7}, {1, 2e8, 1e7}));
  EXPECT_FALSE(is_as_fast({1.2, 1e7, 1e7}, {1, 1e9, 1e7}));
}

}  // namespace
}  // namespace tap::cost
