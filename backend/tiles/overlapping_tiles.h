// Larger tiles for groups whose tiles overlap: what neighbours in time or space need of an inner value at the edges of a
// tile is computed by both tiles, and rows of a tile end in a vector that is not full.
//
//   t[i, j] = … x[i-1, j] … x[i+1, j] …   y[i, j] = … t[i-1, j] … t[i+1, j] …
//   on tiles of 32 × 64: 34 × 66 cells of t, in rows of 4 vectors and a fifth; on 64 × 1024: 66 × 1026
#pragma once

#include "ir/graphs/demand.h"

namespace tap::backend {

// Whether neighbouring points have cells in common.
bool overlaps(const ir::Window& window);

// `points` per tile, of at most `most`; grows them while that saves work, and while what an operation reads and writes in
// a tile fits the second cache.
std::vector<std::int64_t> grown_tiles(const ir::GroupView& group, const std::vector<std::int64_t>& most,
                                      std::vector<std::int64_t> points);

}  // namespace tap::backend
