// Prints expressions; print_ast.cpp prints the statements and declarations around them.
#pragma once

#include <string>

#include "compiler/frontend/syntax/ast.h"

namespace tap {

// show(a), show(b), …
template <class Items, class Show>
std::string joined(const Items& items, Show show) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += show(item);
  }
  return text;
}

class ExprPrinter {
 public:
  explicit ExprPrinter(const ast::Module& module) : module_(module) {}

  // A whole expression, delimited on both sides by its context. `indent` is that of its line, for the body of an
  // iterate.
  std::string whole(ast::ExprId id, int indent = 0);
  std::string list(const std::vector<ast::ExprId>& ids, int indent = 0);
  std::string ranges(const std::vector<ast::RangeVar>& vars);
  std::string range(ast::ExprId low, ast::ExprId high);
  // A value within <…>: comparisons, `and`, `or`, `not`, `if`, `let` and reductions are in parentheses.
  std::string in_angles(ast::ExprId id);
  void begin_statement() { after_less_ = false; }

  static std::string axis(const ast::AxisRef& axis);
  static std::string sharding(const ast::Sharding& sharding);

 private:
  // With precedence of at least `level`. `tail`: nothing follows before the delimiter, so that expressions which extend
  // as far right as possible need no parentheses.
  std::string at_level(ast::ExprId id, int level, bool tail);

  std::string text(const ast::IntLiteral& n, bool tail);
  std::string text(const ast::FloatLiteral& n, bool tail);
  std::string text(const ast::BoolLiteral& n, bool tail);
  std::string text(const ast::NameRef& n, bool tail);
  std::string text(const ast::PackRef& n, bool tail);
  std::string text(const ast::LinearIndex& n, bool tail);
  std::string text(const ast::Member& n, bool tail);
  std::string text(const ast::Index& n, bool tail);
  std::string text(const ast::Call& n, bool tail);
  std::string text(const ast::Unary& n, bool tail);
  std::string text(const ast::Binary& n, bool tail);
  std::string text(const ast::If& n, bool tail);
  std::string text(const ast::Let& n, bool tail);
  std::string text(const ast::Reduce& n, bool tail);
  std::string text(const ast::Tuple& n, bool tail);
  std::string text(const ast::Iterate& n, bool tail);

  std::string trip_count(ast::ExprId high);
  std::string results(const std::vector<ast::ExprId>& ids);

  const ast::Module& module_;
  int indent_ = 0;
  bool after_less_ = false;  // a `<` precedes in this statement: a later `> (` would make it a call
};

std::string print_statement(const ast::Module& module, const ast::Statement& statement, ExprPrinter& printer,
                            int indent);

}  // namespace tap
