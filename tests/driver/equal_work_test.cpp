// Which kernels do the same work wherever their boxes lie, and which batches of a schedule say so.
#include "backend/loops/equal_work.h"

#include <gtest/gtest.h>

#include "backend/schedule/schedule.h"
#include "compiler/pipeline/pipeline.h"
#include "runtime/schedule_tables.h"
#include "support/portions.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::backend {
namespace {

pipeline::Compilation compiled(const std::string& text, const std::string& plan = "plan 2\n") {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  pipeline::Options options;
  options.plan = std::get<ir::Plan>(ir::parse_plan(plan));
  options.stop = pipeline::Stage::schedule;
  return pipeline::compile(outcome.compiled->program, options);
}

// By dim of the only kernel's box.
std::vector<bool> equal_dims(const std::string& text) {
  const pipeline::Compilation made = compiled(text);
  const std::vector<Kernel>& kernels = made.lowered->kernels.kernels;
  EXPECT_EQ(kernels.size(), 1u);
  std::vector<bool> found;
  for (std::size_t dim = 0; dim < kernels[0].dims; ++dim) found.push_back(has_equal_work(kernels[0], dim));
  return found;
}

std::vector<std::int64_t> equal_batches(const std::string& text, const std::string& plan = "plan 2\n") {
  const pipeline::Compilation made = compiled(text, plan);
  const std::vector<std::int64_t> words = encode(*made.schedule, made.lowered->kernels.kernels);
  const tables::Reader tables(words.data());
  std::vector<std::int64_t> found;
  for (std::int64_t s = 0; s < tables.head().sequences.count; ++s) {
    const tables::List& batches = tables.all<tables::Sequence>(tables.head().sequences)[s].batches;
    for (std::int64_t b = 0; b < batches.count; ++b)
      found.push_back(static_cast<Tiles>(tables.all<tables::Batch>(batches)[b].sharing) == Tiles::equal_work);
  }
  return found;
}

using Dims = std::vector<bool>;

constexpr const char* product =
    "program p(a: f32[300, 200], b: f32[200, 100]) -> (c: f32[300, 100]) { c[i, j] = sum[k] a[i, k] * b[k, j] }";
constexpr const char* triangle =
    "program p(a: f32[300, 300], x: f32[300]) -> (y: f32[300]) { y[i] = sum[k in 0..i + 1] a[i, k] * x[k] }";

TEST(EqualWork, OfProductsAndMaps) {
  EXPECT_EQ(equal_dims(product), Dims(3, true));
  EXPECT_EQ(equal_dims("program p(x: f32[99, 50]) -> (y: f32[99, 50]) { y[i, j] = exp(x[i, j]) }"), Dims(2, true));
  EXPECT_EQ(equal_dims("program p(x: f32[99]) -> (y: f32[99]) { y[i] = if x[i] > 0 then x[i] else 0 }"), Dims(1, true));
}

TEST(EqualWork, NotWhereWorkDependsOnThePositionOrTheData) {
  // Tiles at edges check what they read.
  EXPECT_FALSE(equal_dims("program p(x: f32[99]) -> (y: f32[99]) { y[i] = x[i - 1 else 0] + x[i + 1 else 0] }")[0]);
  EXPECT_FALSE(equal_dims(triangle)[0]);
  EXPECT_FALSE(
      equal_dims("program p(x: f32[99]) -> (y: f32[99]) { y[i] = if x[i] > 0 then log(x[i]) / x[0] else 0 }")[0]);
  EXPECT_FALSE(equal_dims("program p(a: f32[99, 99]) -> (y: f32[99]) { y[i] = max[k in i..99] a[i, k] }")[0]);
}

TEST(EqualWork, SchedulesSayIt) {
  EXPECT_EQ(equal_batches(product), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(equal_batches(product, "plan 2\nmesh m = [x: 2]\nsplit c dim i into 2 over axis m.x\n"),
            (std::vector<std::int64_t>{1}));
  // Blocks of different sizes.
  EXPECT_EQ(equal_batches(product, "plan 2\nmesh m = [x: 7]\nsplit c dim i into 7 over axis m.x\n"),
            (std::vector<std::int64_t>{0}));
  EXPECT_EQ(equal_batches(triangle), (std::vector<std::int64_t>{0}));
  // Columns read outside, rows do not.
  EXPECT_EQ(
      equal_batches(
          "program p(x: f32[4000, 80]) -> (y: f32[4000, 80]) { y[i, j] = x[i, j - 1 else 0] + x[i, j + 1 else 0] }"),
      (std::vector<std::int64_t>{1}));
}

}  // namespace
}  // namespace tap::backend
