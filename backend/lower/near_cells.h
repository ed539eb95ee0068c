// Which cells of its operands and results an operator touches near points of one dim (NearCells, backend/loops/loops.h): parts of
// two operations that touch different cells can run at the same time (backend/schedule/reach.h).
#pragma once

#include <optional>
#include <vector>

#include "backend/loops/loops.h"

namespace tap::backend {

// By operand, then by result. Nothing where no axis follows the dim.
std::vector<std::optional<NearCells>> near_cells(const ir::Operator& op, std::size_t dim);

}  // namespace tap::backend
