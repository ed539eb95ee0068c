// Composes maps into their readers if that pays: a value that every reader can compute itself is no longer stored.
//
//   h[i] = x[i] + b[i]   y[i] = max(h[i], 0)     →     y[i] = max(f32(x[i] + b[i]), 0)
//
// It pays if recomputation costs less than storing the value and reading it back. A map that only moves cells (a
// transpose, a broadcast) is always composed. Values with annotations are kept.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// Pre: no calls (they would hide readers). One run composes only producers that were not themselves composed in that
// run, since claims refer to the input program.
PassResult compose_maps(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
