// What an operand allows: whether and how it can be copied, and how often a copy would be read.
#pragma once

#include "backend/tiles/register_tile.h"

namespace tap::backend {

// Whether an operand may be packed, or copied as a window; and how often a register tile uses each cell of a packed
// lane operand.
bool can_be_packed(const ir::Operator& op, const ir::Access& access, const Extents& extents);
bool can_be_window(const ir::Operator& op, const ir::Access& access, const Extents& extents);
// The dim outside the tile along which a lane operand is contiguous, so that it is packed by transposing vectors
// (emit_transposed.h): a reduction dim or a parallel one.
std::optional<std::size_t> transposed_along(const ir::Operator& op, const ir::Access& access, std::size_t lanes,
                                            std::size_t rows, const Extents& extents);
double uses_of_packed(const ir::Operator& op, const ir::Access& access, const RegisterTile& tile,
                      const Extents& extents);

// Whether vectors along the dim cross cache lines in some rows of the operand, since these do not begin at whole lines.
bool crosses_lines(const ir::Operator& op, const ir::Access& access, std::size_t dim);
// For lanes along a reduction: how often each cell of a copy is read whose rows along the lanes are contiguous and begin at whole
// cache lines. None if a copy would not pay, or is not possible.
std::optional<double> uses_of_lane_copy(const ir::Operator& op, const ir::Access& access, std::size_t lanes,
                                        const Extents& extents);

// Whether lane operands may be packed at once for all points of a parallel dim: the packed data must stay in the caches.
bool fits_at_once(const ir::Operator& op, const ir::Access& access, std::size_t dim, std::size_t lanes,
                  const Extents& extents);

}  // namespace tap::backend
