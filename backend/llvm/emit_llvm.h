// Loops to LLVM IR: one function per kernel, with the signature of KernelFunction (abi.h).
#pragma once

#include <string>

#include "backend/loops/loops.h"

namespace llvm {
class Module;
}

namespace tap::backend {

// Adds the kernel to the module under `symbol`. What it emits is plain: scalar loops with a form that LLVM's own passes
// vectorise; every tensor has an alias scope of its own.
void emit(const Kernel& kernel, const std::string& symbol, llvm::Module& module);

}  // namespace tap::backend
