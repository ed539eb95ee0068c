// Results that are larger than the last cache: nothing of them is left there when they are read next. Stores that bypass
// the caches do not load each line before it is overwritten, a third of the traffic of a copy.
#pragma once

#include "backend/loops/loops.h"
#include "ir/machine.h"

namespace tap::backend {

// By size, and whether each row begins at a whole cache line if the first one does.
bool is_non_temporal(const ir::TensorType& type, const ir::Machine& machine);

// Marks such results, except those that the kernel also reads.
void mark_non_temporal_results(Kernel& kernel, const ir::Machine& machine);

}  // namespace tap::backend
