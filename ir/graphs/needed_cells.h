// Which cells of an operator others need:  reachable_from, and through reads, too, into their coordinates and fills.
#pragma once

#include "ir/operator.h"

namespace tap::ir {

// The roots and all that they depend on, each once, in the arena's order.
std::vector<CellId> needed_cells(const Operator& op, std::vector<CellId> roots);

}  // namespace tap::ir
