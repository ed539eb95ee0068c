// LLVM's own optimiser over a module of kernels.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

// Verifies the module (a broken one is a bug of ours), then runs the O2 pipeline, which vectorises plain loops.
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace tap::backend
