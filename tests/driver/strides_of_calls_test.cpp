// Strides that the calls of a kernel share are constants of its code, where its operator alone does not say so.
#include "backend/schedule/strides_of_calls.h"

#include <gtest/gtest.h>

#include "compiler/pipeline/pipeline.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::backend {
namespace {

// By kernel, of its result: how many of the last axes are known to be whole, before and after the calls are known.
struct Known {
  std::vector<std::uint32_t> before, after;
};

Known whole_axes_of_results(const std::string& text, const std::string& plan = "plan 2\n") {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  pipeline::Options options;
  options.plan = std::get<ir::Plan>(ir::parse_plan(plan));
  options.stop = pipeline::Stage::schedule;
  const pipeline::Compilation made = pipeline::compile(outcome.compiled->program, options);
  std::vector<Kernel> kernels = made.lowered->kernels.kernels;
  Known known;
  for (const Kernel& kernel : kernels) known.before.push_back(kernel.tensors[kernel.operands].whole);
  note_strides_of_calls(kernels, *made.schedule);
  for (const Kernel& kernel : kernels) known.after.push_back(kernel.tensors[kernel.operands].whole);
  return known;
}

TEST(StridesOfCalls, OfResultsThatSeveralWrite) {
  const Known known =
      whole_axes_of_results("program p(X: f32[90]) -> (Z: f32[90, 2]) {\n  Z[i, 0] = X[i]\n  Z[i, 1] = 2 * X[i]\n}");
  EXPECT_EQ(known.before, (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(known.after, (std::vector<std::uint32_t>{1, 1}));
}

// Devices of one process share the memory of a value.
TEST(StridesOfCalls, OfPartsOnDevices) {
  const Known known = whole_axes_of_results(
      "mesh m = [d: 2]\nprogram p(X: f32[6, 8]) -> (Y: f32[6]) {\n  Z[i, j] = sum[k] X[i, k] * X[i, j]\n  Y[i] = "
      "max[j] Z[i, j]\n}",
      "plan 2\nsplit Z dim j into 2 over m.d\n");
  ASSERT_FALSE(known.before.empty());
  EXPECT_EQ(known.before[0], 0u);
  EXPECT_EQ(known.after[0], 1u);
}

// The self-check places rows in memory that far apart.
TEST(StridesOfCalls, NotOfVeryLongRows) {
  const Known known = whole_axes_of_results(
      "program p(X: f32[3]) -> (Z: f32[3, 100000]) {\n  Z[i, 0] = X[i]\n  Z[i, 1 + j] = X[i] for j in 0..99999\n}");
  for (std::uint32_t axes : known.after) EXPECT_EQ(axes, 0u);
}

}  // namespace
}  // namespace tap::backend
