// Prints a syntax tree as Tap: canonical text with minimal parentheses. Parsing it again gives the same tree:
// structure(parse(print(m))) == structure(m).
//
//   (((a)) + (b*c))   prints as   a + b * c
#pragma once

#include <string>

#include "compiler/frontend/syntax/ast.h"

namespace tap {

std::string print(const ast::Module& module);
std::string print(const ast::Module& module, ast::ExprId expr);

// Everything in the tree except its spans, as nested lists, one declaration per line: to compare trees and to inspect
// parses.
//
//   a + b * c    gives   (add a (mul b c))
std::string structure(const ast::Module& module);
std::string structure(const ast::Module& module, ast::ExprId expr);

}  // namespace tap
