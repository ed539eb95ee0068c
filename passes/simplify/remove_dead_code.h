// Operations whose results reach no output are gone, and the graphs and operators that nothing reaches any more.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

PassResult remove_dead_code(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
