// Detects index variables that have the name of a dim, which makes them constants.
//
//   program p(x: f32[n]) -> (y: f32[n]) { y[n] = x[n] }      writes and reads one cell, which lies outside
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

// Fails where a dim is an index on the left and is, as the same axis's size, read outside on the right.
void refuse_dims_as_variables(Elaboration& elaboration, const Env& env, const ast::Equation& equation);

}  // namespace tap
