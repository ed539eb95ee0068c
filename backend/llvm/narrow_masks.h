// Masked loads and stores of fewer than 16 bytes become ones of 16 bytes, where the target masks lanes by registers of bits.
//
//   masked.store(<8 x i8> v, p, <8 x i1> m)     becomes     masked.store(<16 x i8> v', p, <16 x i1> zext m)
//
// Why: AVX-512 has no vectors of fewer than 16 bytes, so LLVM widens these itself, and clears the upper half of the mask by a
// `kmovb`. LLVM 22 takes that instruction for a plain copy when it spills masks, for example around a call: the reloaded mask
// then has whatever was above its 8 bits, and the store writes over the cells behind the vector. A load reads them.
// Here the mask is widened in a general register, out of sight of what would turn it into `kmovb` again.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

// Pre: no masked access has a constant mask (exact_masks.h).
void widen_narrow_masks(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace tap::backend
