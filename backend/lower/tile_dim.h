// The dim along which calls split a kernel's box, for threads, and how large a part is worth a call.
#pragma once

#include <optional>
#include <vector>

#include "backend/loops/loops.h"
#include "backend/tiles/register_tile.h"

namespace tap::backend {

// Points of a few instructions that are worth a call: 2.5 us.
inline constexpr double usual_points_of_call = 1 << 16;

// Lets calls split the largest of these dims (the outermost of equal ones), or one along which parts repeat less or are more. Returns
// the dim of the operator. `tile`: that of its loops, if it is a reduction and that is known. Pre: parts along these dims share no
// work.
std::optional<std::size_t> choose_tile_dim(Kernel& kernel, const ir::Program& program, const ir::Operator& op,
                                           const Extents& extents, const std::vector<std::size_t>& dims,
                                           const std::optional<RegisterTile>& tile);

}  // namespace tap::backend
