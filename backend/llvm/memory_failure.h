// Out-of-memory handling for LLVM's own malloc calls, through which no exception can propagate
// (support/memory_failure.h).
#pragma once

#include "support/memory_failure.h"

namespace tap::backend {

// Once, for the whole process, after end_where_memory_must_suffice.
void end_where_llvm_has_no_memory();

// This thread is in LLVM while it lives.
using InLlvm = MemoryMustSuffice;

}  // namespace tap::backend
