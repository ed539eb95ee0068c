#include "compiler/driver/certify.h"

#include <gtest/gtest.h>

#include "ir/plan_text.h"
#include "replay/execution.h"
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
  std::string plan = "plan 1\n";
  for (const char* name : {"H", "M", "E", "S", "P", "T"})
    plan += fmt::format("split {} dim i into {} over threads\n", name, blocks);
  Certified certified = certify(outcome.compiled->program, std::get<ir::Plan>(ir::parse_plan(plan)));
  expand(certified);
  schedule(certified, false);
  EXPECT_FALSE(certified.verdict.refused()) << summary(certified);
  return certified;
}

// How many kernel calls there are, and how many the checker has to look at.
std::pair<std::size_t, std::size_t> calls_of(const Certified& certified) {
  const ir::Program& program = certified.stages.back();
  std::size_t all = 0, proved = 0;
  for (const ir::Batch& batch : certified.schedule->sequences[0]) {
    std::vector<ir::KernelCall> calls;
    for (const ir::ScheduledTask& task : batch) {
      const auto* call = std::get_if<ir::KernelCall>(&task.what);
      if (!call) continue;
      const ir::OperationRef& what = certified.schedule->operations[call->operations].what;
      const ir::Operation& operation = program[program.main][what.operation];
      check::add_call(program[operation.op], *call, calls, check::Obligation::schedule);
      ++all;
    }
    proved += calls.size();
  }
  return {all, proved};
}

TEST(Certify, ThousandsOfBlocksAreProvedAsFourAre) {
  auto [few, few_proved] = calls_of(cut_into(4));
  auto [many, many_proved] = calls_of(cut_into(4096));
  EXPECT_GT(many, 500 * few);
  EXPECT_EQ(many_proved, few_proved);
}

#endif

}  // namespace
}  // namespace tap::driver
