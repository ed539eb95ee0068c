// Loops to LLVM IR: one function per kernel, with the signature of KernelFunction (abi.h).
#pragma once

#include <string>

#include "backend/loops/loops.h"

namespace llvm {
class DICompileUnit;
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

// Whether vectors are stored under a mask as quickly as without: the target has mask registers.
bool stores_under_masks(const llvm::TargetMachine& machine);

// Adds the kernel to the module as `symbol`, for this machine. Emits scalar loops in a form that LLVM's passes
// vectorise; every tensor has its own alias scope. With `lines`, instructions have the numbers of their statements
// (print_with_statements) as source lines.
void emit(const Kernel& kernel, const std::string& symbol, llvm::Module& module, const llvm::TargetMachine& machine,
          llvm::DICompileUnit* lines = nullptr);

}  // namespace tap::backend
