// The calls behind a schedule's tasks, each with what the cost model predicts for it: a kernel on one box, a copy of a box, a
// message. Numbers are those that the executor records (recording.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/llvm/executable.h"
#include "backend/schedule/schedule.h"
#include "cost/machine/device.h"
#include "runtime/distribution.h"

namespace tap::driver {

enum class CallKind : std::uint8_t { kernel, copy, transfer, message, fill, outside };  // a transfer: between devices

struct PredictedCall {
  CallKind kind = CallKind::kernel;
  std::string name;          // the value that it writes
  std::string what;          // kernel 3, copy, outside smooth, …
  std::string box;           // [0..16, 0..32]
  std::int64_t device = -1;  // that has the result; -1: each process has it
  std::int64_t from = -1;    // of what is moved: the device that has the cells
  std::size_t task = 0;      // of the schedule's batch
  std::size_t member = 0;    // of its row
  std::int64_t tiles = 1;
  double bytes = 0;                    // read and written; of transfers, copies and messages: moved
  double operations = 0;               // on elements
  std::optional<double> seconds = {};  // predicted for one run
};

// A schedule's batches, each with the seconds that all its tasks are predicted to take; of an iterate its trips instead.
struct PredictedBatch {
  double seconds = 0;
  std::optional<std::size_t> body = {};  // a sequence
  std::int64_t trips = 0;
};

struct PredictedRun {
  std::vector<std::vector<std::vector<std::vector<PredictedCall>>>> calls;  // by sequence, batch, encoded task, call
  std::vector<std::vector<PredictedBatch>> batches;                         // by sequence, batch
  double seconds = 0;                                                       // of one run of the program
};

struct RunFacts {
  const backend::Executable& executable;
  const cost::Cluster& cluster;
  std::int64_t threads = 1;
  const executor::Distribution* among = nullptr;  // null: this process runs everything
};
PredictedRun predict(const RunFacts& facts);
// Without the calls.
PredictedRun predict_batches(const RunFacts& facts);

}  // namespace tap::driver
