// What an Executable holds between compiling and running.
#pragma once

#include <optional>

#include "backend/executable.h"
#include "backend/jit.h"
#include "backend/thread_pool.h"

namespace tap::backend {

struct CompiledProgram {
  ir::BlockProgram blocks;
  std::vector<Kernel> kernels;
  std::vector<std::optional<std::size_t>> kernel_of;  // by OperatorId: equal operators share one
  std::vector<KernelFunction> functions;              // by kernel
};
CompiledProgram compile(ir::BlockProgram program, Jit& jit);

// Runs the main graph.
std::vector<Tensor> run(const CompiledProgram& compiled, const std::vector<Tensor>& inputs,
                        const ExecuteOptions& options, ThreadPool& pool);

}  // namespace tap::backend
