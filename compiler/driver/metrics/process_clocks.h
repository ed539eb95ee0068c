// The clocks of an MPI job's processes. On one machine they agree; between machines the difference is estimated from how long
// messages take there and back.
#pragma once

#include <cstdint>
#include <vector>

namespace tap::driver {

class MpiHost;

// A question to another process: when it was sent and answered, by the own clock, and what the other clock said.
struct ClockSample {
  std::int64_t asked = 0, answered = 0, other = 0;
};
// Other clock − own clock, by the answer that came soonest: it is right to half the time that this one took.
std::int64_t clock_difference(const std::vector<ClockSample>& samples);

// The earliest of all processes' times `first`, by the clock of this one. All processes call it.
std::int64_t common_origin(const MpiHost& host, std::int64_t first);

}  // namespace tap::driver
