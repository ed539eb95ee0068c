// The machine parameters that are assumed for a target.
//
//   machine_of(*target_named("x86-64-v3"))     16 registers of 32 bytes, and caches as most such processors have them
//   machine_of(*target_named("native"))        registers of this processor, caches as hwloc finds them
#pragma once

#include "ir/machine.h"

namespace tap::backend {

struct Target;

// Inspects this machine only for `native`.
ir::Machine machine_of(const Target& target);

}  // namespace tap::backend
