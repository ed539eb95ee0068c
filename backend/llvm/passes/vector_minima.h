// Minima and maxima of float vectors on AVX-512, which has an instruction that orders the zeros as `min` and `max` do. Only NaNs need
// more:
//
//   minimum(a, b)     becomes     a is unordered with b ? NaN : range(a, b)
//
// Why: LLVM 22 takes vminps, which returns its second operand if the operands are zeros or NaN, and first exchanges them by sign: six
// instructions in place of three, and more registers.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

// Leaves those with a constant operand, of which LLVM knows more.
void shorten_minima(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace tap::backend
