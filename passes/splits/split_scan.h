// Splits a scan along its running dim: each block is scanned alone, the totals of the blocks are scanned, and each
// block's cells are combined with the carry from the blocks before.
//
//   y[i] = sum[k in 0..i+1] x[k]   split into blocks r of i is
//
//   l[i] = sum[k in block r, k <= i] x[k]  for i in block r      the local scans
//   t[r] = sum[k in block r] x[k]                                the totals
//   c[r] = sum[q < r] t[q]                                       the carry
//   y[i] = combine(c[r], l[i])  for i in block r
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::passes {

struct SplitScan {
  ir::Operator local, totals, carry, combined;
  std::uint32_t local_block = 0, totals_block = 0, combined_block = 0;  // the block dims
};
// Empty if the dim is not the running dim of a scan whose bound advances with it by one.
std::optional<SplitScan> split_scan(const ir::Program& program, const ir::Operator& op, std::uint32_t dim,
                                    const ir::Blocks& blocks);

}  // namespace tap::passes
