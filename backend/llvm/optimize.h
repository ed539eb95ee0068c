// LLVM's own optimiser over a module of kernels.
#pragma once

#include <string_view>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

// Stands for all that this file and machine_code.h decide, in the names of cached kernels.
inline constexpr std::string_view optimize_options = "O2, exact and wide masks, in order";

// Verifies the module (a broken one is a bug of ours), then runs the O2 pipeline, which vectorises plain loops; then masks are
// made exact (exact_masks.h) and wide enough (narrow_masks.h).
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace tap::backend
