// Stores of whole vectors. Those that fill a cache line of a streamed result bypass the caches, if they are aligned: that depends on
// where the caller has the tensor, so each store asks.
#pragma once

#include <cstdint>

#include "backend/llvm/emit_state.h"

namespace tap::backend {

void store_vector(EmitState& s, llvm::Value* vector, llvm::Value* address, std::uint32_t tensor);

// Streamed stores are not ordered with later ones: before other threads learn that the results are there.
void end_streams(EmitState& s);

}  // namespace tap::backend
