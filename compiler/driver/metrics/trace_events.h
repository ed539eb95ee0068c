// The recorded times of one process as events of Chrome's trace format, which Perfetto opens. A process has a row for each
// thread, with tasks, sends and waits, and one for each process that it receives from. Names, order and all arguments but
// times and threads depend only on the program, its plan and the number of threads.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/driver/metrics/measured_calls.h"

namespace tap::driver {

inline constexpr std::int64_t first_row_of_messages = 1 << 20;  // beyond all threads

struct TraceOptions {
  std::int64_t process = 0, processes = 1;
  std::int64_t origin = 0;  // of all times, in this process's nanoseconds
};

// JSON objects with commas between them, one a line.
std::string trace_events(const Recording& recording, const PredictedRun& predicted, const TraceOptions& options);

}  // namespace tap::driver
