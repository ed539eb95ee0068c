// Maps a cell operation to its kind of instruction.
#pragma once

#include <optional>

#include "cost/machine/device.h"
#include "ir/cell.h"

namespace tap::cost {

// None where nothing is computed: constants, what is read, and what is only named.
std::optional<Instruction> instruction_of(ir::CellOp op);

}  // namespace tap::cost
