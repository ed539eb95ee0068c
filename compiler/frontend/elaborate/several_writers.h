// Equations that write parts of the same value: each needs its own range.
//
//   c[i] = a[i]              for i in 0..2
//   c[2 + i] = b[i]
#pragma once

#include "compiler/frontend/syntax/ast.h"

namespace tap {

// The equation at `statement`, if another one of the same body writes the same value; else null.
const ast::Equation* equation_with_other_writers(const ast::Module& module, Span statement);

}  // namespace tap
