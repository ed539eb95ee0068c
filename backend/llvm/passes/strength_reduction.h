// Products by the number of an iteration, and addresses, become sums that innermost loops carry along:
//
//   loop(k): x = k * stride     becomes     x = start; loop: …; x = x + stride
//
// Why: LLVM's own pass for this weighs all addresses of a kernel against each other, which takes half of the time of code
// generation, as kernels have hundreds of them in unrolled blocks. Emission has chosen the addresses already (linear_index.h).
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

// Turns LLVM's own pass off, in this process.
void leave_out_strength_reduction();

void reduce_strength(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace tap::backend
