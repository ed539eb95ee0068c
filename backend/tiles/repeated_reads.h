// What threads that share a reduction do more than one alone: each part reads, and packs, the operands that do not depend on the
// dim of the parts; and parts may be small pieces of what does.
//
//   y[b, o, i, j] = sum[c, u, v] x[b, c, i + u, j + v] * w[o, c, u, v]
//
//   parts along o read all of x again; along b, all of w, which is small; along j, a part of each row of x and y
#pragma once

#include "backend/tiles/register_tile.h"

namespace tap::backend {

// Relative to all that the operator reads and writes; and what one point of the dim is of the whole, since a thread may have one
// more than the others. Parts have whole tiles: if there are fewer than six, some threads have none.
double share_of_parts(const ir::Operator& op, const Extents& extents, std::size_t dim,
                      const std::optional<RegisterTile>& tile);

}  // namespace tap::backend
