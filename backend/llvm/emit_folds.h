// The lanes of accumulators, combined to one value. Accumulators of several rows are combined together: half of one and half of
// another fill a vector, so that 16 rows of 16 lanes take 15 combinations instead of 64, of the same lanes in the same order.
//
//   unroll i in i0 of 4 { acc3 = fold acc0[i] by (acc1; acc2) -> acc1 + acc2;  y[i] = acc3 }
//
//   a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3   d0 d1 d2 d3       →  a0+a2 a1+a3 b0+b2 b1+b3   c0+c2 …   →  a b c d
#pragma once

#include <optional>
#include <vector>

#include "backend/llvm/emit_state.h"

namespace tap::backend {

// By component.
std::vector<llvm::Value*> folded(EmitState& state, const FoldLanes& fold, std::vector<llvm::Value*> now);
// By row. Pre: the fold has one component.
std::vector<llvm::Value*> folded_together(EmitState& state, const FoldLanes& fold,
                                          const std::vector<llvm::Value*>& rows);

// The number of the fold in the body, if all that comes before it in any pass can be computed before all that follows it in others.
std::optional<std::size_t> fold_of_rows(const Kernel& kernel, const For& unrolled);

}  // namespace tap::backend
