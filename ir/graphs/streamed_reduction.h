// A reduction whose points come block after block, with work in between that each block needs: what it has combined so far
// is kept beside it.
//
//   o[i] = sum[k] t[i, k]     in blocks of k:   p[i] = sum[k in block] t[i, k]    acc[i] = acc[i] + p[i]    at last o[i] = acc[i]
//
// What is kept has the monoid's own types, so that nothing is rounded between the blocks.
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::ir {

// Three operators over the dims of the reduction, in which its own dims are one point of the last two.
struct StreamedReduction {
  Operator partial;  // of one block
  Operator combine;  // (what came before, the block's) → what there is then
  Operator finish;   // rounds to the types of the results
};
// Pre: a reduction without blockings, by an associative monoid.
StreamedReduction streamed(const Program& program, const Operator& op);

// The box of `combine` and `finish` for one of the reduction.
Box without_reduction(const Operator& op, Box box);

}  // namespace tap::ir
