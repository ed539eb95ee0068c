#include "compiler/driver/metrics/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "support/write_all.h"

namespace tap::driver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds(2);  // without a line
constexpr auto pause = std::chrono::milliseconds(250);

// The batches of a sequence, with all trips of iterates.
struct Amount {
  std::int64_t batches = 0;
  double seconds = 0;
};
Amount amount_of(const PredictedRun& predicted, std::size_t sequence) {
  Amount all;
  for (const PredictedBatch& batch : predicted.batches[sequence]) {
    const Amount one = batch.body ? amount_of(predicted, *batch.body) : Amount{1, batch.seconds};
    const std::int64_t times = batch.body ? batch.trips : 1;
    all.batches += times * one.batches;
    all.seconds += static_cast<double>(times) * one.seconds;
  }
  return all;
}

// Of a sequence in which `begun` batches have begun; the last one is done to `part`.
double seconds_done(const PredictedRun& predicted, std::size_t sequence, std::int64_t begun, double part) {
  double seconds = 0;
  for (const PredictedBatch& batch : predicted.batches[sequence]) {
    if (begun <= 0) break;
    const Amount one = batch.body ? amount_of(predicted, *batch.body) : Amount{1, batch.seconds};
    const std::int64_t times = batch.body ? batch.trips : 1;
    if (one.batches == 0) continue;
    const std::int64_t complete = std::min((begun - 1) / one.batches, times);
    seconds += static_cast<double>(complete) * one.seconds;
    begun -= complete * one.batches;
    if (complete == times) continue;
    return seconds + (batch.body ? seconds_done(predicted, *batch.body, begun, part) : part * one.seconds);
  }
  return seconds;
}

}  // namespace

double part_done(const PredictedRun& predicted, const executor::Progress& progress) {
  const double all = predicted.batches.empty() ? 0 : amount_of(predicted, 0).seconds;
  if (all <= 0) return 0;
  const std::int64_t begun = __atomic_load_n(&progress.batches, __ATOMIC_RELAXED);
  const auto portions = static_cast<double>(__atomic_load_n(&progress.portions, __ATOMIC_RELAXED));
  const auto of_portions = static_cast<double>(__atomic_load_n(&progress.of_portions, __ATOMIC_RELAXED));
  // A portion that has begun is half done.
  const double part = of_portions > 0 ? std::clamp((portions - 0.5) / of_portions, 0.0, 1.0) : 0;
  return std::clamp(seconds_done(predicted, 0, begun, part) / all, 0.0, 1.0);
}

std::string progress_text(double part, double seconds, const std::string& operation) {
  if (part <= 0) return "";
  const double left = seconds / part - seconds;
  const std::string time = left < 100    ? fmt::format("{:.0f} s", std::ceil(left))
                           : left < 6000 ? fmt::format("{:.0f} min", left / 60)
                                         : fmt::format("{:.1f} h", left / 3600);
  return fmt::format("{:.0f} %, about {} left{}", std::floor(100 * part), time,
                     operation.empty() ? "" : ", computing `" + operation + "`");
}

ProgressLine::ProgressLine(PredictedRun predicted, const executor::Progress& progress)
    : predicted_(std::move(predicted)), progress_(progress), thread_([this] { show(); }) {}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  thread_.join();
}

void ProgressLine::show() {
  const auto began = Clock::now();
  bool shown = false;
  std::unique_lock lock(mutex_);
  for (auto wait = std::chrono::milliseconds(patience); !over_changed_.wait_for(lock, wait, [this] { return over_; });
       wait = pause) {
    const std::string operation(progress_.operation, ::strnlen(progress_.operation, sizeof progress_.operation));
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    const std::string text = progress_text(part_done(predicted_, progress_), seconds, operation);
    if (text.empty()) continue;
    write_all(STDERR_FILENO, std::string(erase_line) + text);
    shown = true;
  }
  if (shown) write_all(STDERR_FILENO, erase_line);
}

}  // namespace tap::driver
