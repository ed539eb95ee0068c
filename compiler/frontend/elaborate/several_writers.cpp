#include "compiler/frontend/elaborate/several_writers.h"

#include <algorithm>

namespace tap {
namespace {

bool writes(const ast::Statement& statement, const std::string& name) {
  const auto* equation = std::get_if<ast::Equation>(&statement.node);
  return equation && std::any_of(equation->left.begin(), equation->left.end(),
                                 [&](const ast::LeftSide& left) { return left.base.text == name; });
}

const ast::Equation* among(const std::vector<ast::Statement>& body, Span span) {
  for (const ast::Statement& statement : body) {
    const auto* equation = std::get_if<ast::Equation>(&statement.node);
    if (!equation || !(statement.span == span) || equation->left.empty()) continue;
    auto writers = std::count_if(body.begin(), body.end(), [&](const ast::Statement& other) {
      return writes(other, equation->left[0].base.text);
    });
    return writers > 1 ? equation : nullptr;
  }
  return nullptr;
}

}  // namespace

const ast::Equation* equation_with_other_writers(const ast::Module& module, Span statement) {
  for (const ast::Declaration& declaration : module.declarations) {
    const ast::Equation* found = nullptr;
    if (const auto* op = std::get_if<ast::OpDecl>(&declaration.node)) found = among(op->body, statement);
    if (const auto* program = std::get_if<ast::ProgramDecl>(&declaration.node)) found = among(program->body, statement);
    if (found) return found;
  }
  for (const ast::Expr& expr : module.exprs)
    if (const auto* iterate = std::get_if<ast::Iterate>(&expr.node))
      if (const ast::Equation* found = among(iterate->body, statement)) return found;
  return nullptr;
}

}  // namespace tap
