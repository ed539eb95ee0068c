// Operators: from the flat rules of the grammar to trees, by precedence.
//
//   not a + b * c < d      the grammar gives   not  a  + b  * c  < d
//                          the tree is         not ((a + (b * c)) < d)
#include <fmt/format.h>

#include "compiler/frontend/syntax/antlr_support.h"
#include "compiler/frontend/syntax/precedence_levels.h"

namespace tap {

using ast::ExprId;

namespace {

using namespace precedence;

struct Operator {
  ast::BinaryOp op;
  int level;
};
Operator operator_of(TokenKind kind) {
  using ast::BinaryOp;
  switch (kind) {
    case TokenKind::or_: return {BinaryOp::logical_or, 1};
    case TokenKind::and_: return {BinaryOp::logical_and, 2};
    case TokenKind::equal: return {BinaryOp::equal, comparison_level};
    case TokenKind::not_equal: return {BinaryOp::not_equal, comparison_level};
    case TokenKind::less: return {BinaryOp::less, comparison_level};
    case TokenKind::less_equal: return {BinaryOp::less_equal, comparison_level};
    case TokenKind::greater: return {BinaryOp::greater, comparison_level};
    case TokenKind::greater_equal: return {BinaryOp::greater_equal, comparison_level};
    case TokenKind::plus: return {BinaryOp::add, 5};
    case TokenKind::minus: return {BinaryOp::sub, 5};
    case TokenKind::times: return {BinaryOp::mul, 6};
    case TokenKind::divide: return {BinaryOp::div, 6};
    default: return {BinaryOp::mod, 6};
  }
}

}  // namespace

struct AstBuilder::Flat {
  struct Item {
    const Tokens* prefix;
    std::size_t next_prefix = 0;
    ExprId value;
  };
  std::vector<Item> items;
  std::vector<antlr4::Token*> ops;  // ops[k] is between items k and k + 1
  std::size_t at = 0;               // the item to read next
};

ExprId AstBuilder::expr(TapParser::ExprContext* c) {
  if (c->prefix.empty() && !c->right) return operand(c);
  Flat flat;
  flatten(flat, c);
  return climb(flat, lowest_level);
}

ExprId AstBuilder::operand(TapParser::ExprContext* c) {
  if (c->first) return named(c->first);
  return c->other ? unnamed(c->other) : low_form(c->low);
}

void AstBuilder::flatten(Flat& flat, TapParser::ExprContext* c) {
  for (; c; c = c->right) {
    if (c->prefix.size() > max_prefixes_)
      fail(Diagnostic(Code::nesting_too_deep, span(c->prefix[max_prefixes_]),
                      fmt::format("more than {} prefix operators follow each other", max_prefixes_)));
    bool minus_before = !c->prefix.empty() && kind(c->prefix.back()) == TokenKind::minus;
    // -9223372036854775808 is one literal: its magnitude alone would not fit.
    if (c->other && minus_before && kind(c->other->kind) == TokenKind::integer &&
        text(c->other->kind) == "9223372036854775808") {
      ExprId least = add(join(span(c->prefix.back()), span(c->other->kind)), ast::IntLiteral{two_to_63, true});
      c->prefix.pop_back();
      flat.items.push_back({&c->prefix, 0, least});
    } else {
      flat.items.push_back({&c->prefix, 0, operand(c)});
    }
    if (c->right) flat.ops.push_back(c->op);
  }
}

// The value that ends the body of an iterate, which the grammar reads as the left side of an equation.
ExprId AstBuilder::result_value(TapParser::EquationContext* c) {
  if (c->low) return low_form(c->low);
  ExprId first = c->left ? named(c->left) : group(c->items, join(span(c->open), span(c->close)));
  if (!c->op) return first;
  const Tokens no_prefix;
  Flat flat;
  flat.items.push_back({&no_prefix, 0, first});
  flat.ops.push_back(c->op);
  flatten(flat, c->right);
  return climb(flat, lowest_level);
}

ExprId AstBuilder::prefixed(Flat& flat, int level) {
  Flat::Item& item = flat.items[flat.at];
  if (item.next_prefix == item.prefix->size()) {
    ++flat.at;
    return item.value;
  }
  antlr4::Token* sign = (*item.prefix)[item.next_prefix++];
  if (kind(sign) == TokenKind::minus) {
    ExprId operand = prefixed(flat, minus_level);
    return add(join(span(sign), module_[operand].span), ast::Unary{ast::UnaryOp::negate, operand}, {operand});
  }
  if (level > not_level)
    fail(span(sign), "`not` binds less tightly than the operator before it", "put parentheses around it: `(not a)`");
  ExprId operand = climb(flat, not_level);
  return add(join(span(sign), module_[operand].span), ast::Unary{ast::UnaryOp::logical_not, operand}, {operand});
}

ExprId AstBuilder::climb(Flat& flat, int level) {
  ExprId left = prefixed(flat, level);
  while (flat.at - 1 < flat.ops.size()) {
    std::size_t op = flat.at - 1;
    if (operator_of(kind(flat.ops[op])).level < level) break;
    left = operation(flat, left, op, operator_of(kind(flat.ops[op])).level);
  }
  return left;
}

ExprId AstBuilder::operation(Flat& flat, ExprId left, std::size_t op, int level) {
  ExprId right = climb(flat, level + 1);
  Span at = span(flat.ops[op]);
  std::size_t next = flat.at - 1;
  if (level == comparison_level && next < flat.ops.size() &&
      operator_of(kind(flat.ops[next])).level == comparison_level) {
    Span second = span(flat.ops[next]);
    Span middle = module_[right].span;
    std::string again =
        fmt::format("and {} {}", list_.text.substr(middle.begin, middle.end - middle.begin), text(flat.ops[next]));
    fail(Diagnostic(Code::comparison_chain, second,
                    "comparisons do not chain: this would compare the result of the first one")
             .label(at, "the first comparison")
             .help("compare twice, as in `a < b and b < c`")
             .fix(second, again));
  }
  return add(join(module_[left].span, module_[right].span),
             ast::Binary{operator_of(kind(flat.ops[op])).op, left, right, at}, {left, right});
}

}  // namespace tap
