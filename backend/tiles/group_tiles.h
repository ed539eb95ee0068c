// Tiling of a group: its parallel dims run in tiles, which are independent of each other, and within a tile its
// reduction dims run in steps, in order.
//
//   t[i, j] = …   o[i] = sum[j] t[i, j]   over i, j:   tiles of i, steps of j; of t there is one tile by one step at a time
//
// If a plan streams a reduction dim in blocks, these are its steps. Otherwise sizes are chosen so that the private
// data of a tile or step fits the caches near the core, and larger where a tile reuses data that others have loaded. Tiles of
// maps that compute nothing twice are whole rows, as far as they fit.
// Sizes never depend on the machine, so the order in which floats are combined depends only on the program and its
// plan.
#pragma once

#include "ir/graphs/demand.h"
#include "ir/machine.h"

namespace tap::backend {

inline constexpr double least_tile_bytes = ir::reference_machine.l1_bytes;
inline constexpr double most_tile_bytes = ir::reference_machine.l2_bytes / 4;

// By dim of the group, the points of one tile or step. `most`: the extents of a box.
std::vector<std::int64_t> tile_points(const ir::Program& program, const ir::Operator& group,
                                      const std::vector<std::int64_t>& most);

}  // namespace tap::backend
