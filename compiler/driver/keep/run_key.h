// The hash of everything that the results of one process of a run depend on: the program and its plan, as the schedule has
// them, the build of tapc, outside kernels, and the cells of all inputs, of all processes.
#pragma once

#include <string>
#include <vector>

#include "backend/llvm/digest.h"
#include "backend/llvm/executable.h"
#include "ir/graph_ids.h"
#include "support/tensor.h"

namespace tap::driver {

class MpiHost;

struct RunFiles {
  const ir::Program& program;               // that was compiled
  const std::vector<std::string>& kernels;  // libraries of outside kernels
  bool strict_fp = false;
};

// `inputs`: of this process. All processes of the job call this together.
backend::Digest key_of(const backend::Executable& executable, const RunFiles& files, const std::vector<Tensor>& inputs,
                       const MpiHost* host);

}  // namespace tap::driver
