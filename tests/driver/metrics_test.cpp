// What the metrics of a run compute from times that are given.
#include <gtest/gtest.h>

#include "compiler/driver/metrics/measured_calls.h"
#include "compiler/driver/metrics/process_clocks.h"
#include "compiler/driver/metrics/progress_line.h"
#include "compiler/driver/metrics/recording.h"

namespace tap::driver {
namespace {

// A batch in which the tasks of these times ran, one after another, each as one call of one tile.
void run_batch(const Recording& recording, std::int64_t number, const std::vector<std::int64_t>& times) {
  const executor::Recorder& to = recording.recorder();
  std::int64_t now = 1000 * number;
  const std::int64_t began = now;
  for (std::size_t t = 0; t < times.size(); ++t, now += times[t - 1])
    to.task(to.self, 0, {static_cast<std::int64_t>(t), 0, 0, 1, {now, now + times[t]}});
  to.batch(to.self, {0, number, nullptr, 0, {began, now}, {}});
}

TEST(Recording, EndsAfterAWholeBatch) {
  const Recording recording(1, 5);
  run_batch(recording, 0, {1, 2, 3});
  EXPECT_TRUE(recording.is_complete());
  run_batch(recording, 1, {1, 2, 3});
  EXPECT_FALSE(recording.is_complete());
  run_batch(recording, 2, {1});
  EXPECT_EQ(recording.batches().size(), 2U);
  EXPECT_EQ(recording.tasks().size(), 6U);
}

TEST(Recording, LeavesOutABatchThatFailed) {
  const Recording recording(1);
  run_batch(recording, 0, {1});
  recording.recorder().task(recording.recorder().self, 0, {0, 0, 0, 1, {2000, 2001}});
  EXPECT_EQ(recording.tasks().size(), 1U);
}

TEST(MeasuredCalls, DivideTheTimeOfABatch) {
  const Recording recording(2);
  const executor::Recorder& to = recording.recorder();
  // Thread 0 runs a for 4 µs; thread 1 runs b for 1 µs; the batch takes 6 µs, of which it waits for 1 µs.
  to.task(to.self, 1, {1, 0, 0, 1, {0, 1000}});
  to.task(to.self, 0, {0, 0, 0, 2, {0, 3000}});
  to.task(to.self, 0, {0, 0, 2, 4, {3000, 4000}});
  to.batch(to.self, {0, 0, nullptr, 0, {0, 6000}, {5000, 6000}});
  PredictedRun predicted;
  predicted.calls = {{{{PredictedCall{}}, {PredictedCall{}}}}};
  const std::vector<MeasuredCall> found = measure(recording, predicted);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_DOUBLE_EQ(found[0].seconds, 4e-6);
  EXPECT_DOUBLE_EQ(found[1].seconds, 1e-6);
  EXPECT_EQ(found[0].runs, 1);
}

TEST(ClockDifference, IsThatOfTheSoonestAnswer) {
  EXPECT_EQ(clock_difference({{100, 200, 5150}, {300, 310, 5305}, {400, 900, 9999}}), 5000);
  EXPECT_EQ(clock_difference({{5305, 5315, 310}}), -5000);
}

// 10 s, 7 trips of (1 s, 3 s), 2 s: 40 s in 16 batches.
PredictedRun with_an_iterate() {
  PredictedRun run;
  run.batches = {{{10}, {0, 1, 7}, {2}}, {{1}, {3}}};
  return run;
}
executor::Progress progress_of(std::int64_t batches, std::int64_t portions, std::int64_t of_portions) {
  executor::Progress progress;
  progress.batches = batches;
  progress.portions = portions;
  progress.of_portions = of_portions;
  return progress;
}

TEST(PartDone, WeighsBatchesByTheirPredictedTime) {
  const PredictedRun run = with_an_iterate();
  EXPECT_DOUBLE_EQ(part_done(run, progress_of(0, 0, 0)), 0);
  EXPECT_DOUBLE_EQ(part_done(run, progress_of(1, 1, 1)), 5 / 40.);  // half of the first batch
  EXPECT_DOUBLE_EQ(part_done(run, progress_of(2, 0, 4)), 10 / 40.);
  EXPECT_DOUBLE_EQ(part_done(run, progress_of(3, 0, 4)), 11 / 40.);
  EXPECT_DOUBLE_EQ(part_done(run, progress_of(7, 1, 2)), 19.75 / 40.);  // trip 2, its second batch: 10 + 8 + 1 + 0.75
  EXPECT_DOUBLE_EQ(part_done(run, progress_of(16, 0, 1)), 38 / 40.);
  EXPECT_DOUBLE_EQ(part_done(run, progress_of(17, 0, 1)), 1);
  EXPECT_DOUBLE_EQ(part_done({}, progress_of(1, 0, 1)), 0);
}

TEST(PartDone, OfAProgramThatTakesNoTime) {
  PredictedRun run;
  run.batches = {{{0}}};
  EXPECT_DOUBLE_EQ(part_done(run, progress_of(1, 0, 1)), 0);
}

TEST(ProgressText, SaysTheTimeLeft) {
  EXPECT_EQ(progress_text(0, 5, "H"), "");
  EXPECT_EQ(progress_text(0.25, 4, "H"), "25 %, about 12 s left, computing `H`");
  EXPECT_EQ(progress_text(0.01, 6, ""), "1 %, about 10 min left");
  EXPECT_EQ(progress_text(0.001, 36, ""), "0 %, about 10.0 h left");
}

}  // namespace
}  // namespace tap::driver
