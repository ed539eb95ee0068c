// Forms of loops that are emitted in a way of their own.
#pragma once

#include "backend/loops/loops.h"

namespace llvm {
class BasicBlock;
class Instruction;
}  // namespace llvm

namespace tap::backend {

// A loop over vectors, of which only the last one may be partial: that one comes after the loop, so that all others
// have no mask.
bool is_over_vectors(const For& loop);

// A step of a register tile that needs all registers: if LLVM unrolled the loop around it, it would keep what several
// steps share in registers, and move the tile to memory.
bool is_step_of_full_tile(const std::vector<Statement>& body);
// Whether the body of a loop has a store that becomes one for each lane (passes/exact_masks.h). LLVM takes it for one
// instruction and would repeat it up to 16 times.
bool stores_lane_by_lane(const llvm::BasicBlock& body);
// `branch` is the one at the end of the loop.
void forbid_unrolling(llvm::Instruction& branch);

}  // namespace tap::backend
