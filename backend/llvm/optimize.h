// LLVM's own optimiser over a module of kernels.
#pragma once

#include <string_view>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

// Identifies the decisions of this file and machine_code.h in cache keys.
inline constexpr std::string_view optimize_options =
    "O2, exact and wide masks, carried products, in order, loops at lines";

// Verifies the module (a failure is a bug in tapc), then runs the O2 pipeline, which vectorises plain loops; then makes
// masks exact (exact_masks.h) and wide enough (narrow_masks.h), and loops carry products along (strength_reduction.h).
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace tap::backend
