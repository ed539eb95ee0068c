// isl does not look everywhere whether it was given the memory that it asked for, and GMP, whose numbers it computes with,
// aborts (support/memory_failure.h).
#pragma once

#include "support/memory_failure.h"

namespace tap {

// Once, for the whole process, after end_where_memory_must_suffice.
void end_where_isl_has_no_memory();

// This thread is in isl while it lives.
using InIsl = MemoryMustSuffice;

}  // namespace tap
