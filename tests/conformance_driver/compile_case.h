// A case's program through the front end, with its calls inlined: what propagation and everything behind it works on.
#pragma once

#include "ir/graph.h"

namespace tap::conformance {

// Throws Untranslatable, with the messages, where the program is refused.
ir::Program compile_case(const std::string& tap);

}  // namespace tap::conformance
