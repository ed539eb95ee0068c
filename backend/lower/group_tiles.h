// How a group is walked: its parallel dims in tiles, which are independent of each other, and within a tile its reduction
// dims in steps, one after another.
//
//   t[i, j] = …   o[i] = sum[j] t[i, j]   over i, j:   tiles of i, steps of j; of t there is one tile by one step at a time
//
// A reduction dim that a plan walks in blocks has these as steps. All else is so large that what a tile or step has of its own
// stays near the core, and larger where it reads something again that others have read, so that this is worth the while.
// Nothing depends on a machine: the order in which floats are combined depends on the program and its plan alone.
#pragma once

#include "ir/graphs/demand.h"
#include "ir/machine.h"

namespace tap::backend {

inline constexpr double least_tile_bytes = ir::reference_machine.l1_bytes;
inline constexpr double most_tile_bytes = ir::reference_machine.l2_bytes / 4;

// By dim of the group, the points of one tile or step. `most`: those that a box has.
std::vector<std::int64_t> tile_points(const ir::Program& program, const ir::Operator& group,
                                      const std::vector<std::int64_t>& most);

}  // namespace tap::backend
