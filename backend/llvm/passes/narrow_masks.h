// Masked loads and stores of fewer than 16 bytes are widened to 16 bytes on targets with mask registers.
//
//   masked.store(<8 x i8> v, p, <8 x i1> m)     becomes     masked.store(<16 x i8> v', p, <16 x i1> zext m)
//
// Why: AVX-512 has no vectors of fewer than 16 bytes, so LLVM widens these accesses and clears the upper half of the
// mask with `kmovb`. When LLVM 22 spills masks, for example around a call, it treats that instruction as a plain
// copy: the reloaded mask has arbitrary bits above its 8 bits, and the access touches cells after the vector. Here
// the mask is widened in a general-purpose register, where LLVM does not turn it into `kmovb` again.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

// Pre: no masked access has a constant mask (exact_masks.h).
void widen_narrow_masks(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace tap::backend
