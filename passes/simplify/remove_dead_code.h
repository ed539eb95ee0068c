// Removes operations whose results reach no output, and unreachable graphs and operators.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

PassResult remove_dead_code(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
