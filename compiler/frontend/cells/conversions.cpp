#include "compiler/frontend/cells/conversions.h"

#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/syntax/builtins.h"

namespace tap {
namespace {

// The operands of the arithmetic in an expression, and whether it divides.
struct Operands {
  const Env& env;
  std::vector<ast::ExprId> found = {};
  bool divides = false;

  void collect(ast::ExprId id) {
    const auto& node = env[id].node;
    if (auto* unary = std::get_if<ast::Unary>(&node)) return collect(unary->operand);
    if (auto* binary = std::get_if<ast::Binary>(&node); binary && is_arithmetic(binary->op)) {
      divides |= binary->op == ast::BinaryOp::div;
      collect(binary->left);
      return collect(binary->right);
    }
    if (auto* choice = std::get_if<ast::If>(&node)) {
      collect(choice->then_value);
      return collect(choice->else_value);
    }
    if (auto* reduce = std::get_if<ast::Reduce>(&node);
        reduce && reduce->operands.size() == 1 && is_builtin_reduction(reduce->monoid.text))
      return collect(reduce->operands[0]);
    // A literal takes the type of the other operand.
    if (!std::holds_alternative<ast::IntLiteral>(node)) found.push_back(id);
  }
};

// Whether `!=` can follow it directly.
bool is_operand(const ast::Expr& expr) {
  return std::holds_alternative<ast::NameRef>(expr.node) || std::holds_alternative<ast::Index>(expr.node) ||
         std::holds_alternative<ast::Call>(expr.node) || std::holds_alternative<ast::Member>(expr.node) ||
         std::holds_alternative<ast::IntLiteral>(expr.node) || std::holds_alternative<ast::FloatLiteral>(expr.node);
}

// x[i] != 0
std::string compared(const Elaboration& elaboration, const ast::Expr& expr) {
  std::string text(elaboration.sources.text(expr.span));
  return (is_operand(expr) ? text : "(" + text + ")") + " != 0";
}

}  // namespace

void offer_conversion(const Elaboration& elaboration, const Env& env, ast::ExprId value, ElementType from,
                      ElementType to, Diagnostic& d, const std::string& how) {
  Span span = env[value].span;
  if (is_bool(to) && !is_bool(from)) {
    std::string comparison = compared(elaboration, env[value]);
    d.help("compare it: " + quoted(comparison)).fix(span, comparison);
    return;
  }
  std::string source = source_of(elaboration, span), type(name_of(to));
  bool whole = source == elaboration.sources.text(span);
  if (is_float(from) && is_integer(to)) {
    d.help("convert it explicitly: " + quoted(type + "(round(" + source + "))") + " or " +
           quoted(type + "(floor(" + source + "))") + "; or change the expected type to " + std::string(name_of(from)));
    return;
  }
  Operands operands{env};
  if (is_integer(from) && is_float(to)) operands.collect(value);
  if (!operands.divides || operands.found.empty()) {
    d.help(how + ": " + quoted(type + "(" + source + ")"));
    if (whole) d.fix(span, type + "(" + source + ")");
    return;
  }
  std::string converted(elaboration.sources.text(span));
  for (auto operand = operands.found.rbegin(); operand != operands.found.rend(); ++operand) {
    Span at = env[*operand].span;
    converted.insert(at.end - span.begin, ")");
    converted.insert(at.begin - span.begin, type + "(");
  }
  d.note("integer `/` rounds down");
  d.help("convert before dividing" + (whole ? ": " + quoted(converted) : std::string()));
  d.fix(span, converted);
}

void offer_for_reduction(const Elaboration& elaboration, const Env& env, const ast::Reduce& reduce,
                         std::optional<ElementType> expected, Diagnostic& d) {
  const ast::Expr& operand = env[reduce.operands[0]];
  const std::string &name = reduce.monoid.text, text(elaboration.sources.text(operand.span));
  if (name == "any" || name == "all") {
    std::string comparison = compared(elaboration, operand);
    d.help("compare first: " + quoted(name + "[…] " + comparison)).fix(operand.span, comparison);
  } else if (name == "max" || name == "min") {
    std::string of_bool = name == "max" ? "any" : "all";
    d.help("for bool, use " + quoted(of_bool + "[…] " + text)).fix(reduce.monoid.span, of_bool);
  } else {
    std::string to(name_of(expected && !is_bool(*expected) ? *expected : ElementType::i64));
    std::string converted = to + "(" + text + ")";
    d.help((name == "sum" ? "to count true values, convert it: " : "convert it first: ") +
           quoted(name + "[…] " + converted));
    d.fix(operand.span, converted);
  }
}

}  // namespace tap
