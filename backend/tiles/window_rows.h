// Rows of a map that read the same cells: computed together, they load them once.
//
//   y[i, j] = x[i - 1, j] + x[i, j] + x[i + 1, j]      4 rows i load 6 vectors of j instead of 12
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/tiles/register_tile.h"

namespace tap::backend {

// How many points of the dim to compute together: as many as load considerably less, hold what they share in registers, and do not
// evict each other's lines. `operands`, `results`: the tensors as they lie in memory. Pre: a map, with lanes along another dim.
std::optional<std::uint32_t> rows_that_share_loads(const ir::Operator& op, const RegisterTile& tile, std::size_t dim,
                                                   const std::vector<ir::TensorType>& operands,
                                                   const std::vector<ir::TensorType>& results,
                                                   const ir::Machine& machine);

}  // namespace tap::backend
