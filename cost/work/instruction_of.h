// Maps a cell operation to its kind of instruction.
#pragma once

#include <optional>

#include "cost/machine/device.h"
#include "ir/cell.h"

namespace tap::cost {

// None if nothing is computed: constants, reads, names.
std::optional<Instruction> instruction_of(ir::CellOp op);

}  // namespace tap::cost
