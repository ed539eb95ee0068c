// A program lowered to kernels, and what runs its groups.
#pragma once

#include <map>
#include <optional>

#include "backend/executable.h"
#include "backend/jit.h"
#include "backend/schedule.h"
#include "ir/streamed_reduction.h"

namespace tap::backend {

struct StreamedKernels {
  ir::StreamedReduction operators;
  std::size_t partial = 0, combine = 0, finish = 0;  // of the kernels
};
struct CompiledGroup {
  std::vector<std::int64_t> points;  // by dim, of a tile or step (group_tiles.h)
};

struct CompiledProgram {
  ir::BlockProgram blocks;
  KernelTable kernels;                    // equal operators share one
  std::vector<KernelFunction> functions;  // by kernel
  std::map<ir::OperatorId, CompiledGroup> groups;
  std::map<ir::OperatorId, StreamedKernels> streamed;  // reductions whose points come in steps of a group
};
// Lowers every distinct operator; the functions are left out.
CompiledProgram lower(ir::BlockProgram program, bool exact_arithmetic = false);

}  // namespace tap::backend
