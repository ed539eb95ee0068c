// The names that the head of an operator, outside kernel or program declares: parameters, tensors, and the dims of types.
//
//   op f<k: int>(x: T[n], n: T[n]) …     `n` names both a dim and a tensor
#pragma once

#include "compiler/frontend/syntax/ast.h"
#include "support/diagnostic.h"

namespace tap {

// Reports each name that is declared twice, with both locations. Ignores other declarations.
void check_declared_names(const ast::Module& module, const ast::Declaration& declaration, Diagnostics& diagnostics);

}  // namespace tap
