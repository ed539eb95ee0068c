// Lanes whose cells are a few apart in memory: all cells between them are loaded, too, and shuffles take theirs; or are stored, those of
// several rows at a time (backend/llvm/emit_every.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "backend/loops/loops.h"
#include "cost/work/line_crossings.h"
#include "ir/affine.h"
#include "ir/operator.h"

namespace tap::cost {

// The distance between the cells of neighbouring lanes, in either direction, if it is that of such loads, and at least 2; else 0.
std::int64_t few_steps(const std::vector<ir::AffineExpr>& at, const ir::TensorType& type, std::uint32_t lane);

// The rows of an unrolled loop around a store that are contiguous in memory; 1 without such a loop.
double rows_across(const backend::Store::Target& target, std::uint32_t lane, const std::vector<Progress>& unrolled);

}  // namespace tap::cost
