// Self-check of a library (self_check.h): runs the kernels of its object before the library is written.
#pragma once

#include "backend/llvm/library.h"
#include "backend/trial/self_check.h"

namespace tap::backend {

struct CompiledProgram;  // compiled_program.h

// Throws InternalError, which names the kernel, if one is wrong. Pre: runs_here(the object's target).
void check_library(const CompiledProgram& compiled, const std::string& object, const std::string& prefix,
                   const SelfCheckOptions& options);

// What the check depends on, besides the object; empty if there is none.
std::string check_key(const CompiledProgram& compiled, const SelfCheckOptions& options);

}  // namespace tap::backend
