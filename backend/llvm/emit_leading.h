// Stores of the first lanes of a vector without a masked store: the vector whole, or in parts of 8, 4, 2 and 1 lanes,
// each in a branch. For targets without mask registers: there a masked store takes many cycles even if all lanes are
// active, or, for cells of fewer than 4 bytes, a branch for each lane.
#pragma once

#include <cstdint>

#include "backend/llvm/emit_state.h"

namespace tap::backend {

// Stores the lanes before `active`, which may be negative or larger than the vector, to consecutive cells.
void store_leading(EmitState& s, llvm::Value* vector, llvm::Value* address, llvm::Value* active, std::uint32_t tensor);
// The same for a number that is known.
void store_leading(EmitState& s, llvm::Value* vector, llvm::Value* address, std::uint32_t active, std::uint32_t tensor);

}  // namespace tap::backend
