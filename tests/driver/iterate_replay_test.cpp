// Iterates in schedules: a trip must be valid for all trips, not only for those that are replayed.
#include <gtest/gtest.h>

#include "tests/check/certified.h"
#include "tests/driver/certified.h"
#include "tests/passes/lowered.h"

namespace tap::driver {
namespace {

pipeline::Compilation scheduled(const std::string& text) {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  pipeline::Compilation certified = test::certified(outcome.compiled->program, {}, pipeline::Stage::schedule);
  EXPECT_FALSE(certified.verdict.refused()) << pipeline::summary(certified);
  return certified;
}

const ir::Iteration& loop_of(const ir::Schedule& schedule) {
  for (const ir::Sequence& sequence : schedule.sequences)
    for (const ir::Batch& batch : sequence)
      for (const ir::ScheduledTask& task : batch)
        if (auto* loop = std::get_if<ir::Iteration>(&task.what)) return *loop;
  throw std::runtime_error("nothing is repeated");
}

// What reads the memory of a state reads the program's input of that number instead.
int read_input(ir::Schedule& schedule, ir::BufferId state, std::int64_t input) {
  ir::BufferId from;
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
    if (schedule.buffers[b].space == ir::MemorySpace::input && schedule.buffers[b].at == input) from = ir::BufferId(b);
  int changed = 0;
  for (ir::Batch& batch : schedule.sequences[loop_of(schedule).body])
    for (ir::ScheduledTask& task : batch) {
      auto* call = std::get_if<ir::KernelCall>(&task.what);
      if (!call || call->buffers[0].id != state) continue;
      call->buffers[0].id = from;
      ++changed;
    }
  return changed;
}

// a is x in the first step and in the second, since b was x, too; in the third it is z.
TEST(IterateReplay, StateThatStartsAsAnInputIsNotTheInput) {
  pipeline::Compilation certified = scheduled(
      "program p(x: f32[4], z: f32[4]) -> (r: f32[4], s: f32[4], t: f32[4]) {\n"
      "  (r, s, t) = iterate 4 (a = x, b = x, c = z) { d[i] = a[i] * 2; (b, c, d) }\n}");
  ir::Schedule& schedule = *certified.schedule;
  ASSERT_EQ(read_input(schedule, loop_of(schedule).states[0].now, 0), 1);
  EXPECT_NE(check::test::refusal_of(certified.stages.back(), schedule), "");
}

// What no step writes may be read in each of them.
TEST(IterateReplay, OuterValuesAreAvailableInEachTrip) {
  pipeline::Compilation certified = scheduled(
      "program p(x: f32[4], z: f32[4]) -> (y: f32[4]) {\n"
      "  w[i] = sum[k in 0..2] z[i] * z[k]\n"
      "  y = iterate 3 (a = x) { u = iterate 2 (b = a) { d[i] = b[i] * w[i] + z[i] + a[i]; d }\n u }\n}");
  EXPECT_EQ(check::test::refusal_of(certified.stages.back(), *certified.schedule), "");
}

// Memory that the body writes holds nothing of it at the begin of a step: not what was there before the iterate either.
TEST(IterateReplay, BodyMemoryIsUndefinedAtTripStart) {
  pipeline::Compilation certified = scheduled(
      "program p(x: f32[4], z: f32[4]) -> (y: f32[4]) {\n"
      "  y = iterate 3 (a = x) { d[i] = sum[k in 0..2] a[i] * z[k]\n e[i] = sum[k in 0..2] d[k] + d[i]; e }\n}");
  ir::Schedule& schedule = *certified.schedule;
  ir::Sequence& body = schedule.sequences[loop_of(schedule).body];
  ASSERT_GE(body.size(), 2u);
  ir::Batch first = body.front();
  body.erase(body.begin());
  schedule.sequences[0].insert(schedule.sequences[0].end() - 1, first);  // d of the first step alone, before all
  EXPECT_NE(check::test::refusal_of(certified.stages.back(), schedule), "");
}

}  // namespace
}  // namespace tap::driver
