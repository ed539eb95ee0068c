// Measured beside predicted, call by call. The time of a batch is divided among its calls in proportion to the time that
// threads spent in each, so that measured times add up to the time of the run, as predicted times do.
//
//   a batch of 3 ms on 2 threads:    call A: 4 ms of threads, call B: 1 ms    measured: A 2.4 ms, B 0.6 ms
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/driver/metrics/predicted_calls.h"
#include "compiler/driver/metrics/recording.h"

namespace tap::driver {

// Of all recorded runs of one call.
struct MeasuredCall {
  const PredictedCall* call = nullptr;
  std::size_t sequence = 0, batch = 0;
  std::int64_t process = 0;  // of messages: at the other end
  std::int64_t runs = 0;
  double seconds = 0;
};

// Tasks of this process, and messages that it received; each call that ran, in the order of the schedule.
std::vector<MeasuredCall> measure(const Recording& recording, const PredictedRun& predicted);

// For each of the recording's tasks: the seconds of the whole call in this run of its batch.
std::vector<double> seconds_of_calls(const Recording& recording, const std::vector<Recording::Task>& tasks);

inline double seconds_of(const executor::Interval& time) { return static_cast<double>(time.ended - time.began) * 1e-9; }
// Without the time in which the batch waited for messages.
inline double working_seconds(const Recording::Batch& batch) {
  return seconds_of(batch.time) - seconds_of(batch.waiting);
}

}  // namespace tap::driver
