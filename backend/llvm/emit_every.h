// Stores whose lanes are a few cells apart (emit_every.cpp).
#pragma once

#include <cstdint>
#include <optional>

#include "backend/llvm/emit_state.h"

namespace tap::backend {

// The cells from one lane to the next, if they are few enough: neither 0 nor 1.
std::optional<std::int64_t> step_between_lanes(const EmitState& s, const Store::Target& target, std::uint32_t variable,
                                               std::uint32_t lanes);

}  // namespace tap::backend
