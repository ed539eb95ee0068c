// Runs a program natively, in one call; Executable (executable.h) is the same in two, to compile once and run often.
//
//   std::vector<Tensor> outputs = backend::execute(program, program.main, inputs, {.threads = 4});
#pragma once

#include "backend/executable.h"

namespace tap::backend {

std::vector<Tensor> execute(const ir::Program& program, ir::GraphId graph, const std::vector<Tensor>& inputs,
                            const ExecuteOptions& options = {});

}  // namespace tap::backend
