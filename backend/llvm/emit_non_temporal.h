// Stores of whole vectors. Those that fill a cache line of a result with non-temporal stores (non_temporal_results.h) bypass the
// caches if they are aligned: that depends on where the caller has the tensor, so each store checks its address.
#pragma once

#include <cstdint>

#include "backend/llvm/emit_state.h"

namespace tap::backend {

void store_vector(EmitState& s, llvm::Value* vector, llvm::Value* address, std::uint32_t tensor);

// Before the kernel returns: non-temporal stores are not ordered with later ones, such as one that tells another thread that the
// results are there.
void order_non_temporal_stores(EmitState& s);

}  // namespace tap::backend
