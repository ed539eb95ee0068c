// Strides that all calls of a kernel share, though its operator alone does not say so: each of two operations may write half of the
// rows of a tensor, whose memory has all of them.
#pragma once

#include <vector>

#include "backend/loops/loops.h"
#include "ir/schedule.h"

namespace tap::backend {

// Adds to `whole` of the kernels' tensors. Pre: these are all calls that there will be.
void note_strides_of_calls(std::vector<Kernel>& kernels, const ir::Schedule& schedule);

}  // namespace tap::backend
