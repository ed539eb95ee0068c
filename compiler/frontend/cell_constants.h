// Cells whose value is known while the program is compiled.
#pragma once

#include <optional>

#include "ir/cell.h"

namespace tap {

// The value of an integer cell over constants only: 2 - 2 is 0. Nothing for what fails, as 1 / 0 does.
std::optional<std::int64_t> constant_value(const ir::CellExprs& exprs, ir::CellId id);

}  // namespace tap
