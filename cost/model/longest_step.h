// The longest step of a program: a run that makes no progress for much longer has stopped.
#pragma once

#include <vector>

#include "backend/loops/loops.h"
#include "cost/machine/device.h"
#include "ir/schedule.h"

namespace tap::cost {

// Seconds: the predicted time of the longest batch on one thread, which is no less than that of any portion of a batch.
double longest_step(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels, const Cluster& cluster);

}  // namespace tap::cost
