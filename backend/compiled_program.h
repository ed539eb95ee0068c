// What an Executable holds between compiling and running.
#pragma once

#include <map>
#include <optional>

#include "backend/executable.h"
#include "backend/jit.h"
#include "backend/thread_pool.h"
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
  std::vector<Kernel> kernels;
  std::vector<std::optional<std::size_t>> kernel_of;  // by OperatorId: equal operators share one
  std::vector<KernelFunction> functions;              // by kernel
  std::map<ir::OperatorId, CompiledGroup> groups;
  std::map<ir::OperatorId, StreamedKernels> streamed;  // reductions whose points come in steps of a group
};
CompiledProgram compile(ir::BlockProgram program, Jit& jit);

struct RunResult {
  std::vector<Tensor> outputs;
  std::size_t inner_bytes = 0;  // the most that values inside of groups had at a time, of all threads
};
// Runs the main graph.
RunResult run(const CompiledProgram& compiled, const std::vector<Tensor>& inputs, const ExecuteOptions& options,
              ThreadPool& pool);

}  // namespace tap::backend
