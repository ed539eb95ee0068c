#include "compiler/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include "compiler/pipeline/failures.h"
#include "compiler/pipeline/proof.h"
#include "ir/block_program.h"
#include "ir/graphs/operation_names.h"
#include "ir/text/plan_text.h"
#include "replay/execution.h"
#include "tests/check/certified.h"
#include "tests/driver/certified.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::pipeline {
namespace {

using driver::test::certified;

Compilation with(check::Standing standing) {
  Compilation made;
  made.verdict.findings.push_back(
      check::Finding{check::Obligation::laws, standing, "step 1", "the monoid `m`: to be associative"});
  return made;
}

TEST(Pipeline, RefusedObligationEndsTheCommand) {
  try {
    require_justified(with(check::Standing::refused), false);
    FAIL();
  } catch (const UnjustifiedStep& fault) {
    EXPECT_STREQ(fault.what(), "step 1: the obligation `laws` does not hold: the monoid `m`: to be associative");
  }
}

// The second of two steps: what the first one made is certified, and the operation is one of what the second one made.
TEST(Pipeline, UnjustifiedStepKnowsTheCertifiedStages) {
  auto outcome =
      tap::test::compile_text("program p(X: f32[4]) -> (Y: f32[4]) {\n  H[i] = X[i] * 1\n  Y[i] = H[i] + X[i]\n}");
  ASSERT_TRUE(outcome.compiled) << outcome.messages;
  Compilation made = certified(outcome.compiled->program);
  ASSERT_GE(made.certificate.steps.size(), 2u);
  made.certificate.steps[1].graphs[0].operations[0] = ir::PartialOf{{{}, ir::OperationId(0)}, 7, 0};
  prove_steps(made, {.proof = Proof::recorded});
  try {
    require_justified(made, false);
    FAIL();
  } catch (const UnjustifiedStep& fault) {
    ASSERT_EQ(fault.before.size(), 2u);
    EXPECT_EQ(fault.before[1], made.stages[1]);
    EXPECT_EQ(fault.operation, ir::operation_names(made.stages[2][made.stages[2].main])[0]);
    for (const char* section : {"---- the certificate", "---- before the step", "---- after the step"})
      EXPECT_NE(fault.evidence.find(section), std::string::npos) << section;
  }
}

// A text is compiled as far as is requested, and a graph goes on from there to the same result.
TEST(Pipeline, CompilesTextToEachStage) {
  SourceMap sources;
  Diagnostics diagnostics;
  const FileId file = sources.add("p.tap", "program p(X: f32[4, 3]) -> (Y: f32[4]) { Y[i] = sum[k] X[i, k] }");
  const Text text{&sources, file, {}, &diagnostics};
  Options options;
  options.stop = Stage::parsed;
  EXPECT_TRUE(compile(text, options).program.graphs.empty());
  options.stop = Stage::built;
  int built = 0;
  const Compilation graph = compile(text, options, {.after_build = [&](const Compiled&) { ++built; }});
  EXPECT_EQ(built, 1);
  EXPECT_EQ(graph.source.name, "p");
  ASSERT_TRUE(graph.program.main.valid());
  for (Stage stop : {Stage::simplified, Stage::fused, Stage::sharded}) {
    options.stop = stop;
    EXPECT_EQ(compile(text, options).program, compile(graph.program, options).program);
  }
}

TEST(Pipeline, TextWithErrorsIsRejected) {
  SourceMap sources;
  for (const char* wrong :
       {"program p(X: f32[4]) -> (Y: f32[4]) { Y[i] = X[i + 1] }", "program p(", "tap-ir 1\nnonsense"}) {
    Diagnostics diagnostics;
    const Text text{&sources, sources.add("p.tap", wrong), {}, &diagnostics};
    if (is_stage(wrong)) {
      EXPECT_THROW(compile(text, Options{}), Failure);
    } else {
      EXPECT_THROW(compile(text, Options{}), TextRejected);
    }
    EXPECT_EQ(diagnostics.has_errors(), !is_stage(wrong)) << wrong;
  }
}

TEST(Pipeline, RequiredProofRejectsAssumptions) {
  EXPECT_NO_THROW(require_justified(with(check::Standing::assumed), false));
  EXPECT_THROW(require_justified(with(check::Standing::assumed), true), Failure);
  EXPECT_NO_THROW(require_justified(with(check::Standing::proved), true));
}

Compilation split_into(int blocks) {
  auto outcome = tap::test::compile_text(
      "program p(X: f32[8192, 16], W: f32[16, 16], V: f32[8192, 16]) -> (P: f32[8192, 16], T: f32[16, 16], "
      "C: f32[8192]) {\n"
      "  H[i, j] = sum[k] X[i, k] * W[k, j]\n"
      "  M[i] = max[j] H[i, j]\n  E[i, j] = exp(H[i, j] - M[i])\n  S[i] = sum[j] E[i, j]\n"
      "  P[i, j] = E[i, j] / S[i]\n  T[j, o] = sum[i] P[i, j] * V[i, o]\n  C[i] = sum[k in 0..i+1] P[k, 0]\n}");
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  std::string plan = "plan 2\nsplit H dim k into 3\nsplit E dim j into 2 over threads\n";
  for (const char* name : {"H", "M", "E", "S", "P", "T", "C"})
    plan += fmt::format("split {} dim i into {} over {}\n", name, blocks, *name == 'M' ? "sequential" : "threads");
  Compilation made = certified(outcome.compiled->program, std::get<ir::Plan>(ir::parse_plan(plan)), Stage::schedule);
  EXPECT_FALSE(made.verdict.refused()) << summary(made);
  return made;
}

// How many kernel calls there are, and how many the checker has to look at.
std::pair<std::int64_t, std::size_t> calls_of(const Compilation& made) {
  const ir::Program& program = made.stages.back();
  std::int64_t all = 0;
  std::size_t proved = 0;
  for (const ir::Batch& batch : made.schedule->sequences[0])
    for (const ir::ScheduledTask& task : batch) {
      const auto* call = std::get_if<ir::KernelCall>(&task.what);
      if (!call) continue;
      const ir::OperationRef& what = made.schedule->operations[call->operations].what;
      const ir::Operation& operation = program[program.main][what.operation];
      all += count_of(call->row);
      proved += check::points_of(program[operation.op], call->box, call->row).size();
    }
  return {all, proved};
}

TEST(Pipeline, ThousandsOfBlocksCostNoMoreThanFour) {
  const Compilation four = split_into(4), thousands = split_into(4096);
  auto [few, few_proved] = calls_of(four);
  auto [many, many_proved] = calls_of(thousands);
  EXPECT_GT(many, 500 * few);
  EXPECT_EQ(many_proved, few_proved);
  auto tasks = [](const Compilation& c) { return c.expanded()->graphs[c.stages.back().main.index()].tasks.size(); };
  EXPECT_EQ(tasks(thousands), tasks(four));
}

// On a mesh, what thousands of devices do alike is listed as what few do: in rows of one, two and more axes, with halos, with
// all to all, with partial results of each, with the last part smaller, with gaps, with kernels from outside, and whatever the
// devices are called.
TEST(Pipeline, ListingDoesNotGrowWithDevices) {
  auto tasks_of = [](const char* mesh, const std::string& body, const std::string& lines, int n) {
    auto counted = [n](std::string text) {
      if (auto at = text.find('%'); at != std::string::npos) {
        std::vector<int> devices;  // in no order
        for (int k = 0; k < n; ++k) devices.push_back(k * 5 % n);
        text.replace(at, 1, fmt::format("{}", fmt::join(devices, ", ")));
      }
      for (std::size_t at; (at = text.find('#')) != std::string::npos;) text.replace(at, 1, std::to_string(n));
      return text;
    };
    auto outcome = tap::test::compile_text(counted(fmt::format("mesh m = {}\nprogram p{}", mesh, body)));
    EXPECT_TRUE(outcome.compiled) << outcome.messages;
    Compilation made = certified(outcome.compiled->program,
                                 std::get<ir::Plan>(ir::parse_plan("plan 2\n" + counted(lines))), Stage::schedule);
    EXPECT_FALSE(made.verdict.refused()) << body << summary(made);
    std::size_t tasks = made.schedule->buffers.size();
    for (const ir::BlockGraph& graph : made.expanded()->graphs) tasks += graph.tasks.size() + graph.held.size();
    for (const ir::Sequence& sequence : made.schedule->sequences)
      for (const ir::Batch& batch : sequence) tasks += batch.size();
    return tasks;
  };
  struct {
    const char* mesh;
    std::string body, lines;
    int few, many;
  } cases[] = {
      {"[d: #]",
       "(X: f32[16384, 4], W: f32[4, 4]) -> (Y: f32[16384, 4]) {\n  H[i, o] = sum[k] X[i, k] * W[k, o]\n"
       "  Y[i, o] = max(H[i, o], 0)\n}",
       "split H dim i into # over axis m.d\nsplit Y dim i into # over axis m.d\n", 5, 4096},
      {"[a: #, b: #]",
       "(X: f32[512, 512]) -> (Y: f32[512, 512]) {\n"
       "  A[i, j] = X[i-1, j else 0] + X[i, j]\n  Y[i, j] = A[i, j-1 else 0] + A[i+1, j+1 else 0] + A[i, j]\n}",
       "split A dim i into # over axis m.a\nsplit A dim j into # over axis m.b\nsplit Y dim i into # over axis m.a\n"
       "split Y dim j into # over axis m.b\n",
       4, 64},
      {"[a: #, b: #]",
       "(X: f32[512, 64]) -> (Y: f32[512, 512]) {\n  A[i, k] = X[i, k] + 1\n  B[k, j] = X[j, k] * 2\n"
       "  C[i, k] = A[i, k] * B[k, 0]\n  Y[i, j] = sum[k] C[i, k] * B[k, j]\n}",
       "split B dim k into # over axis m.b\nsplit Y dim i into # over axis m.a\nsplit Y dim j into # over axis m.b\n",
       4, 64},
      {"[d: #]",
       "(X: f32[8192, 4], b: f32[4]) -> (Y: f32[4], Z: f32[8192]) {\n  S[j] = sum[i] X[i, j] * X[i, j]\n"
       "  Y[j] = exp(S[j]) + b[j]\n  Z[i] = sum[j] X[i, j] * S[j]\n}",
       "split S dim i into # over axis m.d\nsplit Z dim i into # over axis m.d\n", 4, 512},
      {"[d: #]",
       "(X: f32[20000]) -> (Y: f32[20000]) {\n  Y = iterate 4 (a = X) {\n"
       "    c[i] = a[i-1 else 0] + a[i] + a[i+1 else 0]\n    c\n  }\n}",
       "split Y/c dim i into # over axis m.d\n", 7, 2048},
      {"[d: #]",
       "(A: f32[8192], B: f32[8192]) -> (Z: f32[16384]) {\n  Y[2*i] = exp(A[i])\n  Y[2*i + 1] = sin(B[8191 - i]) for i "
       "in 0..8192\n"
       "  Z[i] = sum[k in 0..3] Y[i] * A[k]\n}",
       "split Y@0 dim i into # over axis m.d\nsplit Y@1 dim i into # over axis m.d\nsplit Z dim i into # over axis "
       "m.d\n",
       8, 4096},
      {"[a: #, b: #]",
       "(X: f32[256, 256]) -> (Y: f32[256, 256]) {\n  A[i, j] = sum[k in 0..3] X[i, j] * X[k, j]\n"
       "  Y[i, j] = A[i, j] + A[j, i]\n}",
       "split A dim i into # over axis m.a\nsplit A dim j into # over axis m.b\nsplit Y dim i into # over axis m.a\n"
       "split Y dim j into # over axis m.b\n",
       4, 32},
      {"[d: #]",
       "(X: f32[16384]) -> (Y: f32[8192]) {\n  A[i] = sum[k in 0..3] X[i] * X[k]\n  Y[i] = A[i] + A[i + 8192]\n}",
       "split A dim i into # over axis m.d\nsplit Y dim i into # over axis m.d\n", 8, 1024},
      {"[d: #]",
       "(X: f32[8192, 4]) -> (Y: f32[8192, 4]) {\n  A = mean(X)\n  Y = mean(A)\n}\n"
       "extern op mean(x: f32[n, m]) -> (y: f32[n, m]) {\n  index [i: n]\n  read x at [i - 1, 0] shape [3, m] else 0\n"
       "  write y at [i, 0] shape [1, m]\n  kernel \"mean\"\n}\n",
       "split A dim i into # over axis m.d\nsplit Y dim i into # over axis m.d\n", 4, 4096},
      {"[d: #] devices [%]",
       "(X: f32[8192]) -> (Y: f32[8192]) {\n  A[i] = sum[k in 0..3] X[i] * X[k]\n"
       "  Y[i] = A[i-1 else 0] + A[i+1 else 0]\n}",
       "split A dim i into # over axis m.d\nsplit Y dim i into # over axis m.d\n", 8, 1024},
  };
  for (const auto& [mesh, body, lines, few, many] : cases)
    EXPECT_LE(tasks_of(mesh, body, lines, many), 1.35 * static_cast<double>(tasks_of(mesh, body, lines, few))) << body;
}

// Rows of a million devices are proved as those of four are, in the same time.
TEST(Pipeline, AMillionDevicesInRows) {
  auto certified_for = [](std::int64_t n, Stage stop) {
    auto outcome = tap::test::compile_text(
        fmt::format("mesh m = [d: {0}]\nprogram p(X: f64[{1}, 3]) -> (Y: f64[{1}, 3], S: f64[3]) {{\n"
                    "  Y[i, j] = X[i, j] * 2\n  S[j] = sum[i] Y[i, j] * X[i, j]\n}}",
                    n, 2 * n));
    EXPECT_TRUE(outcome.compiled) << outcome.messages;
    return certified(outcome.compiled->program,
                     std::get<ir::Plan>(ir::parse_plan(fmt::format(
                         "plan 2\nsplit Y dim i into {0} over axis m.d\nsplit S dim i into {0} over axis m.d\n", n))),
                     stop);
  };
  constexpr std::int64_t many = 1 << 20;
  Compilation four = certified_for(4, Stage::blocks);
  ir::BlockProgram blocks{certified_for(many, Stage::sharded).stages.back(), four.expanded()->graphs};
  ASSERT_EQ(check::test::first_refusal(four.verdict), "");
  auto grown = [](auto& one) {
    for (ir::Range& r : ir::numbers_of(one).box->dims) r.hi = r.hi == 4 ? many : r.hi == 8 ? 2 * many : r.hi;
    for (ir::Level& level : ir::row_of(one)) level.count = many;
  };
  for (ir::BlockGraph& graph : blocks.graphs) {
    for (ir::Held& held : graph.held) grown(held);
    for (ir::Task& task : graph.tasks) grown(task);
  }
  check::Verdict verdict;
  check::check_expansion(blocks.program, blocks.graphs, "expand", verdict);
  EXPECT_EQ(check::test::first_refusal(verdict), "");
}

// Where the last blocks are smaller or empty, or blocks are split again, there are more rows; where they are listed, any number.
TEST(Pipeline, RowsOfUnequalBlocks) {
  const char* text =
      "program p(X: f64[37, 8]) -> (Y: f64[37, 8], S: f64[8], Z: f64[37]) {\n"
      "  Y[i, j] = X[i, j] * 2 + X[36 - i, j]\n  S[j] = sum[i] Y[i, j]\n  Z[i] = sum[k in 0..i+1] Y[k, 0]\n}";
  for (const char* lines :
       {"split Y dim i into 5 over threads\nsplit S dim i into 36 over threads\nsplit Z dim i into 4 over threads\n",
        "split Y dim i into [0, 1, 2, 3, 10, 17, 37] over threads\nsplit S dim i into 100 over threads\n",
        "split Y dim i into 5 over threads\nsplit Y dim i into 3 over threads\nsplit Y dim j into 3 over threads\n",
        "split Y dim i into 37 over threads\nsplit Y dim i into 2 over threads\nsplit S dim i into 3 over "
        "sequential\n"}) {
    auto outcome = tap::test::compile_text(text);
    ASSERT_TRUE(outcome.compiled) << outcome.messages;
    Compilation made = certified(outcome.compiled->program,
                                 std::get<ir::Plan>(ir::parse_plan(std::string("plan 2\n") + lines)), Stage::schedule);
    EXPECT_FALSE(made.verdict.refused()) << lines << summary(made);
    ir::BlockProgram without_rows = *made.expanded();
    for (ir::BlockGraph& graph : without_rows.graphs) graph = one_by_one(graph);
    EXPECT_EQ(check::test::refusal_of(without_rows), "") << lines;
  }
}

}  // namespace
}  // namespace tap::pipeline
