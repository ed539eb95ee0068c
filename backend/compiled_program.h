// A program lowered to kernels.
#pragma once

#include "backend/llvm/executable.h"
#include "backend/llvm/jit.h"
#include "backend/schedule/schedule.h"
#include "ir/block_program.h"

namespace tap::backend {

struct CompiledProgram {
  ir::BlockProgram blocks;
  KernelTable kernels;                    // equal operators share one
  std::vector<KernelFunction> functions;  // by kernel
};
// Lowers every distinct operator; leaves `functions` empty.
CompiledProgram lower(ir::BlockProgram program, bool exact_arithmetic = false, const ir::Machine& machine = {});

}  // namespace tap::backend
