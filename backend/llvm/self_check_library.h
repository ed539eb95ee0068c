// Self-check of a library (self_check.h): runs the kernels before the library is written.
#pragma once

#include "backend/llvm/library.h"
#include "backend/trial/self_check.h"

namespace tap::backend {

struct CompiledProgram;  // compiled_program.h

// Of the kernels that were not in the cache. Throws InternalError, which names the kernel, if one is wrong. Pre:
// runs_here(the target).
void check_library(const CompiledProgram& compiled, const LibraryCode& code, const SelfCheckOptions& options);

// By kernel, what its check depends on, besides the object; empty if there is none.
std::vector<std::string> check_keys(const CompiledProgram& compiled, const SelfCheckOptions& options);

}  // namespace tap::backend
