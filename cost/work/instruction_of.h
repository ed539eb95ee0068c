// Maps a cell to its kind of instruction.
#pragma once

#include <optional>

#include "cost/machine/device.h"
#include "ir/cell.h"

namespace tap::cost {

// None if nothing is computed: constants, reads, names.
std::optional<Instruction> instruction_of(const ir::CellExprs& exprs, ir::CellId id);

}  // namespace tap::cost
