// Masked stores with a constant mask become plain stores of the active lanes.
//
//   masked.store(v, p, <1, 1, 1, 0>)     becomes     store <v0, v1>, p     store v2, p + 2 cells
//
// Why: for AVX-512, LLVM 22 stores a narrowed vector under a constant one-lane mask at its width before narrowing,
// which overwrites the following cells:
//
//   masked.store(trunc <16 x i32> to <16 x i16>, p, <1, 0, …>)     stores 4 bytes at p
//
// Masks of tails become constants wherever the size of the tail is one, initially or after LLVM has unrolled a loop.
// So this runs last, just before code generation.
#pragma once

namespace llvm {
class Module;
}

namespace tap::backend {

// Masks with several runs of lanes, of stores between other cells (emit_every.h), remain: the fault is that of one lane.
// Post: no masked store has a constant mask of one run, and no scatter a constant mask.
void make_masks_exact(llvm::Module& module);

}  // namespace tap::backend
