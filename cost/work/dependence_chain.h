// How long a value waits for an accumulator.
#pragma once

#include "backend/loops/loops.h"
#include "cost/machine/device.h"
#include "cost/work/fused_products.h"

namespace tap::cost {

// Seconds of the longest chain of instructions from an accumulator to a value; negative if it does not depend on it.
double chain_from(std::uint32_t accumulator, ir::CellId value, const backend::Kernel& kernel, const Device& device,
                  FusedProducts& fused);

}  // namespace tap::cost
