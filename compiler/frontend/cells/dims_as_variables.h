// Detects index variables that have the name of a dim, which makes them constants.
//
//   program p(x: f32[n]) -> (y: f32[n]) { y[n] = x[n] }      writes and reads one cell, out of bounds
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

// Fails if a dim is an index on the left and, as the size of the same axis, is read out of bounds on the right.
void refuse_dims_as_variables(Elaboration& elaboration, const Env& env, const ast::Equation& equation);

}  // namespace tap
