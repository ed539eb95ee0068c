// Packing: which operands of a register-tiled reduction are first copied to scratch memory, in the order in which the
// innermost loops read them, and in which blocks. Where windows overlap, their bounding box is copied unchanged, with
// the fill for cells outside the tensor. So a copy is never larger than its source and the margins, and its readers
// need no bounds checks.
//
//   y[i, j] = sum[k] a[i, k] * b[k, j]
//
//     for j in blocks of nc, k in blocks of kc      b's block is packed: panels of 32 columns, k by k
//       for i in blocks of mc                       a's block is packed: panels of 14 rows, k by k
//         for panels of b, panels of a              one register tile
//
// With few rows, copying an operand from memory takes as long as using it, unless the first rows do it on the way: they read b
// itself, while others follow, and keep what they read in a panel for the other rows.
#pragma once

#include "backend/tiles/packable.h"
#include "backend/tiles/register_tile.h"
#include "ir/machine.h"

namespace tap::backend {

struct Packing {
  std::vector<std::uint32_t> lane_reads;  // depend on the lanes, not the rows
  std::vector<std::uint32_t> row_reads;   // depend on the rows, not the lanes
  std::vector<std::uint32_t> windows;     // likewise, copied as bounding boxes
  std::optional<std::size_t> packed_dim;  // a parallel dim, for all of whose points lane operands are packed at once
  std::optional<std::size_t> chunked;     // the outermost reduction dim, processed in blocks of …
  std::int64_t chunk = 0;
  std::int64_t row_block = 0, lane_block = 0;
  bool by_first_rows = false;  // the first rows of a block copy the lane operands, panel by panel, as they use them
  bool operator==(const Packing&) const = default;
};

// Empty if the operands stay in near caches anyway. `accumulates_into_result`: partial results can be kept in memory,
// so the reduction may be processed in blocks. `prepared`: as in choose_tile. Pre: the tile is for this operator, not
// along a reduction.
std::optional<Packing> choose_packing(const ir::Operator& op, const RegisterTile& tile, const Extents& extents,
                                      bool accumulates_into_result, const ir::Machine& machine,
                                      const std::vector<bool>& prepared = {});

// Of a product with a single row, that row becomes the tile's, so that panels of a prepared operand are read. Where its rows are one or
// two panels, each panel then comes as one stream, and threads fetch no lines for each other. Pieces of longer rows are as good, and far
// memory has more streams for them.
RegisterTile with_row_of_prepared(const ir::Operator& op, RegisterTile tile, const Extents& extents,
                                  const ir::Machine& machine, const std::vector<bool>& prepared);

}  // namespace tap::backend
