#include "compiler/driver/show/run_summary.h"

#include <fmt/format.h>

#include "support/plural.h"

namespace tap::driver {

std::string duration_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} µs", seconds * 1e6);
}

std::string summary_text(const RunSummary& summary) {
  constexpr double often = 4;  // operations per byte
  std::string text = "ran in " + duration_text(summary.seconds);
  text += summary.shards
              ? fmt::format(": {} on {}", plural(*summary.shards, "shard"), plural(summary.threads, "thread"))
              : " on " + plural(summary.threads, "thread");
  const ProgramWork& work = summary.work;
  if (work.flops >= often * work.bytes && work.flops > 0)
    text += fmt::format(", {:.3g} GFLOP/s", work.flops / summary.seconds / 1e9);
  else if (work.bytes > 0) text += fmt::format(", {:.3g} GB/s", work.bytes / summary.seconds / 1e9);
  return text + "\n";
}

}  // namespace tap::driver
