// A trace as a time line: for each device what ran when, as it was measured and as the cost model predicts it, and which tasks
// decided how long it all took.
//
// The prediction gives the time of each call and no time of day. Batches are barriers: a batch begins when the one before it
// ended and its messages were sent; its messages arrive one after another; then its calls run in their order on the workers,
// each for its share of the predicted time.
//
//   a batch of calls a and b, predicted 2 µs and 1 µs, on 2 workers of a process
//   worker 0   aaaaaa        0 … 3
//   worker 1   bbb           0 … 1.5
//
// The critical path goes backwards from the batch that ended last: all that its last worker did, then the batch before it; or
// the message that the batch waited for, and the batch before the one that sent it.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/driver/metrics/read_trace.h"

namespace tap::driver {

struct TimePiece {
  std::size_t event = 0;  // of the trace: the first part of a call
  std::int64_t lane = 0;  // pieces of a row that overlap have different lanes
  double began = 0, ended = 0;
  bool critical = false;
};

struct TimeRow {
  std::int64_t process = 0, device = -1;
  auto operator<=>(const TimeRow&) const = default;
};

struct TimeLine {
  std::vector<TimeRow> rows;                   // in order
  std::vector<TimePiece> measured, predicted;  // of the first whole batches; in the order of their times
  double measured_us = 0, predicted_us = 0;
  std::size_t kept = 0, count = 0;  // events
};

TimeLine time_line_of(const Trace& trace, std::size_t most_events);

inline TimeRow row_of(const TraceEvent& event) {
  return {event.process, event.kind == TraceKind::wait ? -1 : event.device};
}

}  // namespace tap::driver
