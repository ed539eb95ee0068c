// Parameters of kind float. An integer is kept exactly beside its f64, for use with integer tensors:
//
//   pad<0, 1, 1, 9007199254740993>(x)      // of i64: that number; of f32: refused, since no f64 equals it
#include "compiler/frontend/cells/float_values.h"

#include <cmath>
#include <limits>

#include "compiler/frontend/cells/conversions.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/syntax/builtins.h"
#include "support/checked.h"

namespace tap {
namespace {

constexpr double two_to_63 = 9223372036854775808.0;

FloatValue of_double(double value) {
  bool whole = value >= -two_to_63 && value < two_to_63 && std::trunc(value) == value;
  return {value, whole ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt};
}
FloatValue of_integer(std::int64_t value) { return {static_cast<double>(value), value}; }

FloatValue of_integers(ast::BinaryOp op, std::int64_t x, std::int64_t y) {
  switch (op) {
    case ast::BinaryOp::add: return of_integer(checked::add(x, y));
    case ast::BinaryOp::sub: return of_integer(checked::sub(x, y));
    default: return of_integer(checked::mul(x, y));
  }
}

FloatValue arithmetic(ast::BinaryOp op, const FloatValue& x, const FloatValue& y) {
  if (op == ast::BinaryOp::div) return of_double(x.value / y.value);
  if (x.whole && y.whole) try {
      return of_integers(op, *x.whole, *y.whole);
    } catch (const Overflow&) {}
  if (op == ast::BinaryOp::add) return of_double(x.value + y.value);
  return of_double(op == ast::BinaryOp::sub ? x.value - y.value : x.value * y.value);
}

std::string text_of(const FloatValue& value) {
  return value.whole ? std::to_string(*value.whole) : to_string(ir::Scalar::floating(ElementType::f64, value.value));
}

}  // namespace

FloatValue eval_float(Elaboration& elaboration, const Env& env, ast::ExprId id) {
  const ast::Expr& expr = env[id];
  if (auto* literal = std::get_if<ast::FloatLiteral>(&expr.node)) return of_double(literal->value);
  if (auto* unary = std::get_if<ast::Unary>(&expr.node); unary && unary->op == ast::UnaryOp::negate) {
    FloatValue value = eval_float(elaboration, env, unary->operand);
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    if (value.whole == 0 || value.whole == least) return of_double(-value.value);  // -0.0; 2^63
    return {-value.value, value.whole ? std::optional(-*value.whole) : std::nullopt};
  }
  if (auto* name = std::get_if<ast::NameRef>(&expr.node))
    if (auto* parameter = env.find_as<FloatEntity>(name->name)) return parameter->value;
  if (auto* b = std::get_if<ast::Binary>(&expr.node); b && is_arithmetic(b->op)) {
    FloatValue left = eval_float(elaboration, env, b->left);
    return arithmetic(b->op, left, eval_float(elaboration, env, b->right));
  }
  return of_integer(eval_size(elaboration, env, id));
}

double as_float(Elaboration& elaboration, const FloatEntity& parameter) {
  const FloatValue& value = parameter.value;
  bool fits = !value.whole || (value.value < two_to_63 && static_cast<std::int64_t>(value.value) == *value.whole);
  if (!fits) {
    std::string nearest = to_string(ir::Scalar::floating(ElementType::f64, value.value));
    elaboration.fail(Diagnostic(Code::literal_out_of_range, parameter.span,
                                "a float is expected here, but " + text_of(value) +
                                    " is not exact in f64; the nearest is " + nearest)
                         .help("write " + quoted(nearest) + " to accept the rounding")
                         .fix(parameter.span, nearest));
  }
  return value.value;
}

std::optional<std::int64_t> as_integer(Elaboration& elaboration, const FloatEntity& parameter, const std::string& name,
                                       ElementType type, Span use) {
  const FloatValue& value = parameter.value;
  std::int64_t least = is_bool(type) ? 0 : least_integer(type), greatest = is_bool(type) ? 1 : greatest_integer(type);
  if (value.whole && *value.whole >= least && *value.whole <= greatest) return value.whole;
  if (!use.valid() || (std::isinf(value.value) && !is_bool(type))) return std::nullopt;
  elaboration.fail(
      Diagnostic(Code::bad_parameter, parameter.span,
                 "the parameter " + quoted(name) + " is " + text_of(value) + ", which is not a value of " +
                     std::string(name_of(type)))
          .label(use, "converted here")
          .help(is_bool(type) ? "write `0` or `1`"
                              : "write an integer from " + std::to_string(least) + " to " + std::to_string(greatest)));
}

std::string key_of(const FloatValue& value) {
  return to_string(ir::Scalar::floating(ElementType::f64, value.value)) +
         (value.whole ? "=" + std::to_string(*value.whole) : "");
}

}  // namespace tap
