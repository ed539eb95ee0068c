// Maps are computed where they are read, if that pays: a value that every reader can compute by itself is written no more.
//
//   h[i] = x[i] + b[i]   y[i] = max(h[i], 0)     →     y[i] = max(f32(x[i] + b[i]), 0)
//
// It pays if what is computed more than once costs less than writing the value and reading it again. What only moves cells
// (a transpose, a broadcast) always does. What a user said something about stays a value.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// Pre: no calls (they would hide readers). One run composes producers none of which was itself composed in that run, so that
// each claim speaks of what was given.
PassResult compose_maps(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
