// A process of an MPI job runs as the child of a process that only waits for it. If it dies, the parent says which process
// it was and what it was doing; the launcher would only tell the signal. The parent passes signals on and ends with the
// child's exit code, so the launcher sees one process. Needs the C library only.
//
//   process 2 of the job was ended by signal 9 (Killed) while it computed `H` at i in 32..48 on device 2
#pragma once

#include "runtime/distribution.h"

namespace tap::executor {

// Returns in the child: where it notes what it does, in memory that the parent reads; null if it is not supervised. Pre: this process
// has one thread. `reporter` begins messages: "tapc: error[T1301]". A child that computes without any progress for `most_seconds`
// (0: for ever), or that someone has stopped for so long, is ended; one that waits for others is not.
Progress* supervise(const char* reporter, double most_seconds);

// As `most_seconds`: a minute, or more if one step of the program is predicted to take long.
inline constexpr double default_patience = -1;
// After how many seconds without progress a child is ended. 0: never.
constexpr double patience_of(double most_seconds, double longest_step) {
  constexpr double least = 60, times = 10;  // predictions are rarely wrong by so much, even on a busy machine
  if (most_seconds >= 0) return most_seconds;
  return times * longest_step > least ? times * longest_step : least;
}

}  // namespace tap::executor
