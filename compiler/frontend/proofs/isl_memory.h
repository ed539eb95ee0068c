// Out-of-memory handling for isl, which does not check all allocations, and for GMP, which it uses and which aborts
// (support/memory_failure.h).
#pragma once

#include "support/memory_failure.h"

namespace tap {

// Call once per process, after set_out_of_memory_exit.
void handle_isl_out_of_memory();

// Marks this thread as being inside isl during its lifetime.
using InIsl = AllocationMustSucceed;

}  // namespace tap
