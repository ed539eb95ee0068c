// Batches that are worth several threads: who shares one waits for lines that other cores wrote.
#pragma once

#include <vector>

#include "backend/loops/loops.h"
#include "ir/schedule.h"

namespace tap::backend {

// False: all its tasks together take less time than two calls that are each worth a thread (Kernel::worth).
bool pays_to_share(const ir::Batch& batch, const ir::Schedule& schedule, const std::vector<Kernel>& kernels);

}  // namespace tap::backend
