// Common subexpression elimination: equal operations on equal operands become one.
//
//   a = exp(x)   b = exp(x)   c = a + b     →     a = exp(x)   c = a + a
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// Post: as ir::without_common_subexpressions says, graph by graph.
PassResult share_equal_operations(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
