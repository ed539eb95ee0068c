// Out-of-memory handling for LLVM's own malloc calls, through which no exception can propagate
// (support/memory_failure.h).
#pragma once

namespace tap::backend {

// Call once per process, after set_out_of_memory_exit.
void handle_llvm_out_of_memory();

}  // namespace tap::backend
