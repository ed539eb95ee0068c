// The value of a cell expression without reads, as the interpreter computes it: `f32(n) + 1` where n is a dim.
#pragma once

#include <optional>

#include "ir/cell.h"

namespace tap {

// Empty if it depends on an index variable or a tensor, or has no value (a division by zero).
std::optional<ir::Scalar> constant_value(const ir::CellExprs& exprs, ir::CellId cell);

}  // namespace tap
