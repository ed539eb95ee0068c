// Blocks of steps: where a reduction reads a large operand once, row by row, a few steps are done for all lanes before the
// next steps. A register tile that runs through all steps at once would read a narrow strip of every row, and hardware
// prefetchers follow only long runs of neighbouring lines.
//
//   y[j] = sum[k] a[k] * b[k, j]
//
//     for j in blocks, k in blocks of 8      results of a block of j stay in the first cache
//       for j in register tiles              reads 8 rows of b side by side
#pragma once

#include "backend/tiles/register_tile.h"

namespace tap::backend {

struct StepBlocks {
  std::size_t dim = 0;     // the outermost reduction dim
  std::int64_t steps = 0;  // in a block
  std::int64_t lane_block = 0;
};
// Empty if it does not help. Pre: partial results can be kept in memory; the tile is for this operator.
std::optional<StepBlocks> choose_step_blocks(const ir::Operator& op, const RegisterTile& tile, const Extents& extents,
                                             const ir::Machine& machine);

}  // namespace tap::backend
