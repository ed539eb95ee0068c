// The summary line of `tapc run`.
//
//   ran in 1.92 ms: 8 shards on 2 threads, 17.5 GFLOP/s
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "compiler/driver/work.h"

namespace tap::driver {

struct RunSummary {
  double seconds = 0;
  std::size_t threads = 1;
  std::optional<std::int64_t> shards;  // boxes that operations are applied to, each once; none if interpreted
  ProgramWork work;
};
// Shows arithmetic speed, or memory bandwidth if each byte is used only a few times.
std::string summary_text(const RunSummary& summary);

std::string duration_text(double seconds);  // 1.92 ms

}  // namespace tap::driver
