#include "compiler/driver/certify.h"

#include <gtest/gtest.h>

#include "ir/plan_text.h"
#include "replay/execution.h"
#include "tests/check/certified.h"
#include "tests/passes/lowered.h"

namespace tap::driver {
namespace {

Certified with(check::Standing standing) {
  Certified certified;
  certified.verdict.findings.push_back(
      check::Finding{check::Obligation::laws, standing, "step 1", "the monoid `m`: to be associative"});
  return certified;
}

TEST(Certify, ARefusedObligationEndsTheCommand) {
  try {
    require_justified(with(check::Standing::refused), false);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit_code, exit_code::check_failed);
    EXPECT_EQ(failure.diagnostic.code, Code::not_justified);
    EXPECT_EQ(failure.diagnostic.message,
              "step 1: the obligation `laws` is refused: the monoid `m`: to be associative");
  }
}

TEST(Certify, AnAssumedOneWhereAProofIsAskedFor) {
  EXPECT_NO_THROW(require_justified(with(check::Standing::assumed), false));
  EXPECT_THROW(require_justified(with(check::Standing::assumed), true), Failure);
  EXPECT_NO_THROW(require_justified(with(check::Standing::proved), true));
}

#ifdef TAP_HAVE_BACKEND

Certified cut_into(int blocks) {
  auto outcome = tap::test::compile_text(
      "program p(X: f32[8192, 16], W: f32[16, 16], V: f32[8192, 16]) -> (P: f32[8192, 16], T: f32[16, 16]) {\n"
      "  H[i, j] = sum[k] X[i, k] * W[k, j]\n"
      "  M[i] = max[j] H[i, j]\n  E[i, j] = exp(H[i, j] - M[i])\n  S[i] = sum[j] E[i, j]\n"
      "  P[i, j] = E[i, j] / S[i]\n  T[j, o] = sum[i] P[i, j] * V[i, o]\n}");
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  std::string plan = "plan 1\nsplit H dim k into 3\nsplit E dim j into 2 over threads\n";
  for (const char* name : {"H", "M", "E", "S", "P", "T"})
    plan += fmt::format("split {} dim i into {} over {}\n", name, blocks, *name == 'M' ? "sequential" : "threads");
  Certified certified = certify(outcome.compiled->program, std::get<ir::Plan>(ir::parse_plan(plan)));
  expand(certified);
  schedule(certified, false);
  EXPECT_FALSE(certified.verdict.refused()) << summary(certified);
  return certified;
}

// How many kernel calls there are, and how many the checker has to look at.
std::pair<std::int64_t, std::size_t> calls_of(const Certified& certified) {
  const ir::Program& program = certified.stages.back();
  std::int64_t all = 0;
  std::size_t proved = 0;
  for (const ir::Batch& batch : certified.schedule->sequences[0])
    for (const ir::ScheduledTask& task : batch) {
      const auto* call = std::get_if<ir::KernelCall>(&task.what);
      if (!call) continue;
      const ir::OperationRef& what = certified.schedule->operations[call->operations].what;
      const ir::Operation& operation = program[program.main][what.operation];
      all += call->row.count;
      proved += check::in_one(program[operation.op], call->box, call->row, check::Obligation::schedule).size();
    }
  return {all, proved};
}

TEST(Certify, ThousandsOfBlocksAreListedAndProvedAsFourAre) {
  const Certified four = cut_into(4), thousands = cut_into(4096);
  auto [few, few_proved] = calls_of(four);
  auto [many, many_proved] = calls_of(thousands);
  EXPECT_GT(many, 500 * few);
  EXPECT_EQ(many_proved, few_proved);
  auto tasks = [](const Certified& c) { return c.blocks->graphs[c.stages.back().main.index()].tasks.size(); };
  EXPECT_EQ(tasks(thousands), tasks(four));
}

// Where the last blocks are smaller or empty, or blocks are cut again, there are more rows; where they are listed, any number.
TEST(Certify, RowsOfBlocksThatDiffer) {
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
    Certified certified =
        certify(outcome.compiled->program, std::get<ir::Plan>(ir::parse_plan(std::string("plan 1\n") + lines)));
    expand(certified);
    schedule(certified, false);
    EXPECT_FALSE(certified.verdict.refused()) << lines << summary(certified);
    ir::BlockProgram apart = *certified.blocks;
    for (ir::BlockGraph& graph : apart.graphs) graph.tasks = ir::one_by_one(graph.tasks);
    EXPECT_EQ(check::test::refusal_of(apart), "") << lines;
  }
}

#endif

}  // namespace
}  // namespace tap::driver
