// Masked stores whose mask is a constant become plain stores of just the cells that are meant.
//
//   masked.store(v, p, <1, 1, 1, 0>)     becomes     store <v0, v1>, p     store v2, p + 2 cells
//
// Why: for AVX-512, LLVM 22 turns the store of a narrowed vector under a constant mask of one lane into a store of the lane
// before it was narrowed, which writes over the cells behind it:
//
//   masked.store(trunc <16 x i32> to <16 x i16>, p, <1, 0, …>)     stores 4 bytes at p
//
// Masks of tails become constants wherever the size of the tail is one, at first or after LLVM has unrolled a loop. So this
// runs last, over everything that goes to code generation.
#pragma once

namespace llvm {
class Module;
}

namespace tap::backend {

// Post: no masked store, and no scatter, has a constant mask.
void make_masks_exact(llvm::Module& module);

}  // namespace tap::backend
