// Masked loads and stores skip the halves of a vector whose lanes are never active.
//
//   masked.load(<8 x f64> p, and(splat b, <1, 1, 1, 1, 0, 0, 0, 0>), 0)    becomes    masked.load(<4 x f64> p, splat b, 0)
//                                                                                   and four zeros
//
// Why: without mask registers (AVX2), LLVM 22 splits such a load, takes the all-zero mask of its second half for one that is
// always true, and reads memory where the result must be zero.
#pragma once

namespace llvm {
class Module;
}

namespace tap::backend {

// Post: in no masked load or store, an aligned half, quarter, … of 16 bytes or more is known to be idle.
void skip_idle_lanes(llvm::Module& module);

}  // namespace tap::backend
