// A streamed reduction: its points come block after block, interleaved with other work that each block needs; its
// partial result is kept separately.
//
//   o[i] = sum[k] t[i, k]     in blocks of k:   p[i] = sum[k in block] t[i, k]    acc[i] = acc[i] + p[i]    finally o[i] = acc[i]
//
// The partial result has the monoid's own types, so that nothing is rounded between the blocks.
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::ir {

// Three operators over the dims of the reduction; in the last two, the reduced dims have one point.
struct StreamedReduction {
  Operator partial;  // of one block
  Operator combine;  // (accumulator, partial of the block) → new accumulator
  Operator finish;   // rounds to the types of the results
};
// Pre: a reduction without blockings, by an associative monoid.
StreamedReduction streamed(const Program& program, const Operator& op);

// The box of `combine` and `finish` for this box of the reduction.
Box without_reduction(const Operator& op, Box box);

}  // namespace tap::ir
