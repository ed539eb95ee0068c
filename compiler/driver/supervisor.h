// The processes of `tapc run --mpi` are supervised: runtime/supervise.h.
#pragma once

#include "runtime/distribution.h"

namespace tap::driver {

// Returns in the child. Nothing without a launcher.
void run_supervised(double most_seconds);
// What the child is doing, for the parent; null if it is not supervised.
executor::Progress* own_progress();
// One step of the child may take so long, as predicted.
void expect_step_of(double seconds);
// The child has reported what there is to report, and ends.
void end_supervised();

}  // namespace tap::driver
