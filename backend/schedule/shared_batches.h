// Batches that are worth several threads: who shares one waits for lines that other cores wrote.
#pragma once

#include <vector>

#include "backend/loops/loops.h"
#include "ir/schedule.h"

namespace tap::backend {

// False: all its tasks together take less time than two calls that are each worth a thread (Kernel::worth).
bool pays_to_share(const ir::Batch& batch, const ir::Schedule& schedule, const std::vector<Kernel>& kernels);

// Calls that write a few cells of each of many rows, such as a column of a grid, beside batches that are shared: one thread would take
// the lines of all rows from the caches of the others, and these would take them back. They have as many parts as the batches beside
// them, so that each thread keeps to its rows, and pay then.
ir::Schedule with_shared_columns(ir::Schedule schedule, const std::vector<Kernel>& kernels);

}  // namespace tap::backend
