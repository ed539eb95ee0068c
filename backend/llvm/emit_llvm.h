// Loops to LLVM IR: one function per kernel, with the signature of KernelFunction (abi.h).
#pragma once

#include <string>

#include "backend/loops/loops.h"

namespace llvm {
class Module;
}

namespace tap::backend {

// Adds the kernel to the module as `symbol`. Emits scalar loops in a form that LLVM's passes vectorise; every tensor
// has its own alias scope.
void emit(const Kernel& kernel, const std::string& symbol, llvm::Module& module);

}  // namespace tap::backend
