// Windows along the lanes, unfolded: what a reduction reads through a window is first copied so that each cell of the window has rows
// of its own. Vectors of a copied row are contiguous, whatever the window's stride, and rows without margins follow each other: rows
// of images become one dim.
//
//   y[b, o, i, j] = sum[c, u, v] x[b, c, i + u - 1, j + v - 1 else 0] * k[o, c, u, v]     over i, j in 107 × 11     becomes, for each b,
//
//   z[b, c, v, h, j] = x[b, c, h - 1, j + v - 1 else 0]                                   over h in 109
//   y[b, o, i, j] = sum[c, u, v] z[b, c, v, i + u, j] * k[o, c, u, v]                     or, with m = 11*i + j in 1177,
//   y[b, o, 0, m] = sum[c, u, v] z[b, c, v, 0, m + 11*u] * k[o, c, u, v]
//
// Chosen if register tiles over the copy cost less, copying included: if the reduction is short, so that storing results across lanes
// takes much of the time, and many results use a copied cell.
#pragma once

#include <optional>
#include <vector>

#include "backend/lower/merged_dims.h"
#include "backend/tiles/register_tile.h"

namespace tap::backend {

struct UnfoldedWindows {
  std::uint32_t operand = 0;         // that is copied
  std::vector<std::size_t> outside;  // dims for each point of which is copied again
  ir::Operator copy;
  // By dim of the copy: its first and last coordinates are these of the operator's dims; the coordinate is `row` - `first`.
  struct CopiedDim {
    ir::AffineExpr row;
    std::int64_t first = 0;
  };
  std::vector<CopiedDim> copied;
  MergedOperator op;  // reads the copy
  Shape extents;      // of the copy's memory
  // Of the operator that reads it.
  Extents within;
};
// `constant`: operands that may be prepared; empty: none.
std::optional<UnfoldedWindows> unfold_windows(const ir::Program& program, const ir::Operator& op,
                                              const Extents& extents, const std::vector<bool>& constant,
                                              bool exact_arithmetic, const ir::Machine& machine);

}  // namespace tap::backend
