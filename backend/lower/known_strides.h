// Tensors whose inner axes are whole in every call: the distance from one row to the next is then a constant. Addresses of
// neighbouring rows differ by constants, so that one register serves for all of them.
#pragma once

#include "backend/loops/loops.h"

namespace tap::backend {

// Sets `whole` of the kernel's tensors.
void mark_known_strides(Kernel& kernel, const ir::Operator& op, const LowerOptions& options);

}  // namespace tap::backend
