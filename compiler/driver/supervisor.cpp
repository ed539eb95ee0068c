#include "compiler/driver/supervisor.h"

#include "runtime/supervise.h"

namespace tap::driver {
namespace {

executor::Progress* progress = nullptr;

}  // namespace

void run_supervised(double most_seconds) { progress = executor::supervise("tapc: error[T1301]", most_seconds); }

executor::Progress* own_progress() { return progress; }

void expect_step_of(double seconds) {
  if (progress) progress->longest_step = seconds;
}

void end_supervised() {
  if (progress) progress->activity = executor::Activity::ended;
}

}  // namespace tap::driver
