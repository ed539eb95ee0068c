// Removes trivial operations: a copy of a whole value becomes an alias of it, and a reduction over at most one point
// becomes a map (which can be composed into its readers).
//
//   h[i] = x[i]   y = f(h)                 →     y = f(x)
//   y[i] = sum[k in 0..1] x[i, k]          →     y[i] = 0 + x[i, 0]
#pragma once

#include "passes/pass.h"

namespace tap::passes {

PassResult simplify_graph(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
