// Out-of-memory handling for isl, which does not check all allocations, and for GMP, which it uses and which aborts
// (support/memory_failure.h).
#pragma once

#include "support/memory_failure.h"

namespace tap {

// Once, for the whole process, after end_where_memory_must_suffice.
void end_where_isl_has_no_memory();

// This thread is in isl while it lives.
using InIsl = MemoryMustSuffice;

}  // namespace tap
