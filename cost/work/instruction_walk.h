// Counts instructions: each cell once per iteration of the innermost loop that it depends on.
#pragma once

#include "cost/work/kernel_work.h"

namespace tap::cost {

// Fills in all of the work except the facts about tensors.
void count_instructions(const backend::Kernel& kernel, const ir::Box& box, const Device& device, KernelWork& work);

}  // namespace tap::cost
