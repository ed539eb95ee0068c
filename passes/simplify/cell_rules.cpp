#include "passes/simplify/cell_rules.h"

#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

bool is_bool_operation(CellOp op) {
  return info(op).kind == CellKind::logical || op == CellOp::logical_and || op == CellOp::logical_or;
}

// A constant's value at this type; none if the type has no such value, as bool has no 0.
std::optional<Scalar> scalar_of(const RuleTerm& term, ElementType type) {
  switch (term.kind) {
    case RuleTerm::number:
      if (is_bool(type) || (term.value < 0 && !is_float(type) && !info(type).is_signed)) return std::nullopt;
      return is_float(type) ? Scalar::floating(type, static_cast<double>(term.value))
                            : Scalar::integer(type, term.value);
    case RuleTerm::minus_zero: return is_float(type) ? std::optional(Scalar::floating(type, -0.0)) : std::nullopt;
    case RuleTerm::truth: return is_bool(type) ? std::optional(Scalar::boolean(term.value != 0)) : std::nullopt;
    case RuleTerm::least: return Scalar::least(type);
    case RuleTerm::greatest: return Scalar::greatest(type);
    case RuleTerm::variable:
    case RuleTerm::operation: break;
  }
  return std::nullopt;
}

// The type that the rule's type restrictions refer to: that of the operands, if there are any.
std::optional<ElementType> type_of_operands(const CellExprs& exprs, const CellNode& node) {
  if (is_bool_operation(node.op)) return std::nullopt;
  if (info(node.op).kind == CellKind::comparison) return exprs[node.args[0]].type;
  return node.type;
}

bool match_term(const CellRule& rule, const RuleTerm& term, const CellExprs& exprs, CellId cell, Bindings& bound) {
  const CellNode& node = exprs[cell];
  if (term.kind == RuleTerm::variable) {
    CellId& variable = bound[static_cast<std::size_t>(term.value)];
    if (variable.valid()) return variable == cell;
    variable = cell;
    return !rule.is_constant[static_cast<std::size_t>(term.value)] || node.op == CellOp::constant;
  }
  if (term.kind != RuleTerm::operation) {
    auto scalar = scalar_of(term, node.type);
    return node.op == CellOp::constant && scalar && node.value == *scalar;
  }
  if (node.op != term.op) return false;
  auto type = type_of_operands(exprs, node);
  if (type && !rule.fits(*type)) return false;
  for (std::size_t k = 0; k < term.args.size(); ++k)
    if (!match_term(rule, term.args[k], exprs, node.args[k], bound)) return false;
  return true;
}

// The types of an operation's arguments, if no variable among them determines them.
ElementType type_of_argument(const RuleTerm& term, std::size_t k, const Bindings& variables, ElementType type,
                             const CellExprs& exprs) {
  if (is_bool_operation(term.op) || (term.op == CellOp::select && k == 0)) return ElementType::boolean;
  if (info(term.op).kind != CellKind::comparison) return type;
  for (const RuleTerm& arg : term.args)
    if (arg.kind == RuleTerm::variable) return exprs[variables[static_cast<std::size_t>(arg.value)]].type;
  return type;
}

}  // namespace

std::optional<Bindings> match(const CellRule& rule, const CellExprs& exprs, CellId cell) {
  if (exprs[cell].op != rule.left.op) return std::nullopt;
  Bindings bound(rule.variables.size());
  return match_term(rule, rule.left, exprs, cell, bound) ? std::optional(bound) : std::nullopt;
}

CellId instantiate(const RuleTerm& term, const Bindings& variables, ElementType type, CellExprs& exprs) {
  if (term.kind == RuleTerm::variable) return variables[static_cast<std::size_t>(term.value)];
  if (term.kind != RuleTerm::operation) {
    auto scalar = scalar_of(term, type);
    TAP_CHECK(scalar, "a rule has a constant that its type lacks");
    return exprs.constant(*scalar);
  }
  std::vector<CellId> args;
  for (std::size_t k = 0; k < term.args.size(); ++k)
    args.push_back(instantiate(term.args[k], variables, type_of_argument(term, k, variables, type, exprs), exprs));
  return exprs.apply(term.op, type, std::move(args));
}

}  // namespace tap::passes
