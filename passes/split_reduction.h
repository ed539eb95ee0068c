// One reduction as two operators: partials of blocks, and their combination in block order.
//
//   y[i] = sum[k] x[i, k]   cut over k   is   p[r, i] = sum[k in block r] x[i, k]   and   y[i] = sum[r] p[r, i]
#pragma once

#include "ir/graph.h"

namespace tap::passes {

struct SplitReduction {
  ir::Operator partial;  // the operator with one more parallel dim, last: the block's number. Which points of the cut
                         // dim belong to which block is said by the boxes of its applications.
  std::uint32_t block_dim = 0;
  ir::Operator combination;  // its dims: the parallel ones in order, then the block's number, reduced
  std::vector<std::uint32_t> dim_in_combination;  // by dim of the operator; only parallel ones are asked
};

// Pre: a reduction. Partials have the monoid's component types, so nothing is rounded between the blocks.
SplitReduction split_reduction(const ir::Program& program, const ir::Operator& op, std::int64_t blocks);

}  // namespace tap::passes
