// The times that list scheduling goes by (backend/schedule/list_scheduling.h): of the built-in model of the processor for which
// kernels are lowered, on one thread. No measured or given machine is used, which might differ from one process of a job to the
// next: all of them have to find the same schedule.
#pragma once

#include "backend/loops/loops.h"
#include "backend/schedule/schedule.h"
#include "ir/machine.h"

namespace tap::cost {

backend::TaskTimes task_times(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels,
                              const ir::Machine& machine);

}  // namespace tap::cost
