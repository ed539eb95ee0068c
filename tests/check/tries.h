// How many mutants a test draws: TAP_TRIES times as many as usual, for long runs.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace tap::check {

inline int times_tries(int usual) {
  const char* times = std::getenv("TAP_TRIES");
  return usual * std::clamp(times ? std::atoi(times) : 1, 1, 10'000);
}

}  // namespace tap::check
