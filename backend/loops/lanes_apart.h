// Lanes whose cells are a few apart in memory: all cells between them are loaded, and shuffles take theirs (backend/llvm/emit_every.cpp).
#pragma once

#include <cstdint>

namespace tap::backend {

inline constexpr std::int64_t most_steps_between_lanes = 4;  // cells; lanes that are farther apart gather

}  // namespace tap::backend
