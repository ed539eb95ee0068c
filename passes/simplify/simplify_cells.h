// Simplifies the cells of maps and reductions: by algebraic rules (cell_rules.def), by arithmetic on constants and
// index values, and by conditions that the domain decides. Operands that are no longer read are removed.
//
//   y[i] = if 0 <= i then x[i] * 1 else 0        →     y[i] = x[i]
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// Every cell keeps its value bitwise, and its failures, except for values that are no longer needed.
PassResult simplify_cells(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
