// The verifier of kernels: checks the invariants that emission relies on. It proves nothing about values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/loops/loops.h"

namespace tap::backend {

// One sentence per violation; empty if all is well.
std::vector<std::string> verify(const Kernel& kernel);

// A violation is a bug in tapc, in the named step.
void require_verified(const Kernel& kernel, std::string_view step);

}  // namespace tap::backend
