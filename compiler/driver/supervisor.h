// A process of an MPI job runs as the child of a process that only waits for it. If it dies, the parent says which process
// it was and what it was doing; the launcher would only tell the signal. The parent passes signals on and ends with the
// child's exit code, so the launcher sees one process.
//
//   process 2 of the job was ended by signal 9 (Killed) while it computed `H` at i in 32..48 on device 2
#pragma once

#include "runtime/distribution.h"

namespace tap::driver {

// Returns in the child. Nothing without a launcher. Pre: this process has one thread. With `most_seconds` > 0, a child that
// computes without any progress for that long, or that someone has stopped, is ended; one that waits for others is not.
void run_supervised(double most_seconds);
// What the child is doing, for the parent; null if it is not supervised.
executor::Progress* own_progress();
// The child has reported what there is to report, and ends.
void end_supervised();

}  // namespace tap::driver
