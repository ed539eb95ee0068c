// The guards of a read that its proof ignores because they are not affine:
//
//   y[i] = if i % 2 == 1 then x[i - 1] else 0        the proof sees x[-1] at i = 0; the message says why
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/syntax/ast.h"

namespace tap {

// Only those that are certainly not affine, by their form: a remainder, a product of index variables, a read. Outermost
// first.
std::vector<Span> uncounted_guards(const ast::Module& module, Span read, const std::vector<std::string>& variables);

}  // namespace tap
