// Register tiles of scans.
#pragma once

#include "backend/tiles/register_tile.h"

namespace tap::backend {

// For a scan along `along`, whose steps follow each other: lanes along a dim in which all tensors are contiguous; else several
// rows at a time, each with its own chain of steps. Each result is combined in the same order as without.
std::optional<RegisterTile> choose_scan_tile(const ir::Program& program, const ir::Operator& op, const Extents& extents,
                                             std::size_t along, const ir::Machine& machine);

}  // namespace tap::backend
