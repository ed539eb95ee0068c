// How far tiles of a batch depend on tiles of the batch before.
#include "backend/schedule/reach.h"

#include <gtest/gtest.h>

#include "backend/schedule/schedule.h"
#include "compiler/pipeline/pipeline.h"
#include "runtime/schedule_tables.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::backend {
namespace {

// By batch that several threads share, of all sequences: `apart` of the tables.
std::vector<std::int64_t> distances(const std::string& text, const std::string& plan = "plan 2\n") {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  pipeline::Options options;
  options.plan = std::get<ir::Plan>(ir::parse_plan(plan));
  options.stop = pipeline::Stage::schedule;
  const pipeline::Compilation made = pipeline::compile(outcome.compiled->program, options);
  const std::vector<std::int64_t> words = encode(*made.schedule, made.lowered->kernels.kernels);
  const tables::Reader tables(words.data());
  std::vector<std::int64_t> found;
  for (std::int64_t s = 0; s < tables.head().sequences.count; ++s) {
    const tables::List& batches = tables.all<tables::Sequence>(tables.head().sequences)[s].batches;
    for (std::int64_t b = 0; b < batches.count; ++b) found.push_back(tables.all<tables::Batch>(batches)[b].apart);
  }
  return found;
}

using Distances = std::vector<std::int64_t>;

TEST(Reach, OfAStencilInALoop) {
  EXPECT_EQ(distances("program p(x: f32[400, 400]) -> (y: f32[400, 400]) {\n"
                      "  y = iterate 9 (s = x) { t[i, j] = s[i - 1, j else 0] + s[i + 1, j else 0] + s[i, j]; t }\n}"),
            (Distances{0, 0, 0, 2}));
}

}  // namespace
}  // namespace tap::backend
