// Out-of-memory handling for isl, which does not check all allocations, and for GMP, which it uses and which aborts
// (support/memory_failure.h).
#pragma once

#include "support/memory_failure.h"

namespace tap {

// Once, for the whole process, after set_out_of_memory_exit.
void handle_isl_out_of_memory();

// This thread is in isl while it lives.
using InIsl = AllocationMustSucceed;

}  // namespace tap
