// Warns about inputs and locals that are never read: a misspelled name, or a missing equation.
//
//   program p(X: f32[4], s: f32[]) -> (Y: f32[4]) { h[i] = X[i] * s[]; Y[i] = X[i] }      `h` is never read
#pragma once

#include "compiler/frontend/elaborate/definitions.h"

namespace tap {

// Warns for all operators and programs of a file and of the modules that it uses, except libraries. Pre: no errors.
void warn_of_unread_values(const ModuleScope& scope, Diagnostics& diagnostics);

}  // namespace tap
