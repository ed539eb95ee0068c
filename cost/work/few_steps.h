// Lanes whose cells are a few apart in memory: all cells between them are loaded, too, and shuffles take theirs
// (backend/llvm/emit_every.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "ir/affine.h"
#include "ir/operator.h"

namespace tap::cost {

// The distance between the cells of neighbouring lanes, in either direction, if it is that of such loads, and at least 2; else 0.
std::int64_t few_steps(const std::vector<ir::AffineExpr>& at, const ir::TensorType& type, std::uint32_t lane);

}  // namespace tap::cost
