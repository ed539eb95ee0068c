// A line with the time left of a long run, on a terminal only. It is rewritten in place, and gone when the run is over.
//
//   37 %, about 12 s left, computing `H`
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "compiler/driver/metrics/predicted_calls.h"
#include "runtime/distribution.h"

namespace tap::driver {

inline constexpr std::string_view erase_line = "\r\x1b[K";  // on a terminal

// The part of the run that is done, from 0 to 1, weighted with what the cost model predicts for each batch.
double part_done(const PredictedRun& predicted, const executor::Progress& progress);
// Of a run that has taken `seconds` so far; empty if nothing can be said.
std::string progress_text(double part, double seconds, const std::string& operation);

class ProgressLine {
 public:
  // Shows `progress`, once a run has taken a few seconds.
  ProgressLine(PredictedRun predicted, const executor::Progress& progress);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;

 private:
  void show();
  PredictedRun predicted_;
  const executor::Progress& progress_;
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace tap::driver
