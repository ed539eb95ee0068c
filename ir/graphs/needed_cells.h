// The cells that an operator's other cells depend on: like reachable_from, but also through coordinates and fills of
// reads.
#pragma once

#include "ir/operator.h"

namespace tap::ir {

// The roots and all that they depend on, each once, in the arena's order.
std::vector<CellId> needed_cells(const Operator& op, std::vector<CellId> roots);

}  // namespace tap::ir
