// The tensors that a statement uses, which must be defined before it.
#pragma once

#include "compiler/frontend/syntax/ast.h"

namespace tap {

struct NameUse {
  std::string name;
  Span span;
};
std::vector<NameUse> names_used(const ast::Module& module, const ast::Statement& statement);

}  // namespace tap
