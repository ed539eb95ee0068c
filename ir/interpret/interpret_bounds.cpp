// One rule per kind of cell operation; the header defines the error.
#include "ir/interpret/interpret_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tap::ir::oracle {
namespace {

// Roundings, in unit roundoffs of the result. Libraries promise 2 ulp, which is 4 units; the rest is slack. Quotients may
// be computed by a reciprocal, and sigmoid is several operations.
constexpr double exact = 0, arithmetic = 1, quotient = 3, by_library = 6, composite = 12;

double greatest_finite(ElementType type) {
  switch (type) {
    case ElementType::f16: return 65504;
    case ElementType::bf16: return 0x1.fep127;
    case ElementType::f32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

// Zeros of different sign are equal, but not exactly: their reciprocals differ.
constexpr double signed_zeros = std::numeric_limits<double>::min();

// The greater of two errors; NaN gives no bound, and so counts as infinite. (std::max would drop it.)
double greater(double a, double b) { return std::isnan(a) || std::isnan(b) ? infinity : std::max(a, b); }

// An operand's error propagated through a function that is monotone on [a - e, a + e]: exact at the ends.
template <class F>
double spread(F f, Cell a) {
  if (a.error == 0) return 0;
  double low = f(a.value.f - a.error), at = f(a.value.f), high = f(a.value.f + a.error);
  if (low == 0 && high == 0 && std::signbit(low) != std::signbit(high)) return signed_zeros;
  return greater(std::fabs(high - at), std::fabs(low - at));
}
double spread(CellOp op, Cell a) {
  return spread([op](double x) { return apply_float(op, number(x), number(0)).f; }, a);
}

// x - floor(x / y)·y: smooth while the floor is constant, else anywhere between 0 and y.
double error_of_remainder(Cell a, Cell b, double u) {
  double x = a.value.f, y = b.value.f, floor = std::floor(x / y);
  if (std::fabs(y) <= b.error) return infinity;
  if (std::isinf(y)) return std::fabs(x) <= a.error ? infinity : a.error;  // for a negative x, the result is y
  for (double over : {x - a.error, x + a.error})
    for (double under : {y - b.error, y + b.error})
      for (double slack : {1 - 4 * u, 1 + 4 * u})
        if (std::floor(over / under * slack) != floor) return std::fabs(y) + b.error;
  return a.error + std::fabs(floor) * b.error + 4 * u * std::fabs(x);
}

// Even functions turn at 0, tan has poles, sine and cosine are bounded with slope at most 1.
double error_of_cosh(Cell a) {
  double turning = std::fabs(a.value.f) <= a.error ? std::cosh(a.value.f) - 1 : 0;
  return greater(spread(CellOp::cosh, a), turning);
}
double error_of_tan(Cell a) {
  constexpr double pi = 3.14159265358979323846;
  auto branch = [](double x) { return std::floor(x / pi + 0.5); };
  bool pole = branch(a.value.f - a.error) != branch(a.value.f + a.error);
  return pole ? infinity : spread(CellOp::tan, a);
}

// Powers are monotone in each operand where the base stays positive, and, for a whole exponent, on either side of 0.
double error_of_pow(Cell a, Cell b, double r) {
  double x = a.value.f, y = b.value.f;
  if (a.error == 0 && b.error == 0) return 0;
  bool whole = b.error == 0 && y == std::floor(y);
  bool straddles = x - a.error <= 0 && x + a.error >= 0;
  if ((x - a.error <= 0 && !whole) || (straddles && y - b.error <= 0)) return infinity;
  double error = straddles ? std::fabs(r) : 0;
  for (double base : {x - a.error, x + a.error})
    for (double exponent : {y - b.error, y + b.error}) error = greater(error, std::fabs(std::pow(base, exponent) - r));
  return error;
}

double error_of_quotient(Cell a, Cell b, double r) {
  double room = std::fabs(b.value.f) - b.error;
  if (b.error == 0 && a.error == 0) return 0;
  return room <= 0 ? infinity : (a.error + std::fabs(r) * b.error) / room;
}

struct Rule {
  double propagated;
  double roundings;
};

Rule rule_of(CellOp op, Cell a, Cell b, double r, double u) {
  double x = a.value.f, y = b.value.f;
  switch (op) {
    case CellOp::neg:
    case CellOp::abs: return {a.error, exact};
    case CellOp::add:
    case CellOp::sub: return {a.error + b.error, arithmetic};
    case CellOp::mul: {
      double ofa = a.error == 0 ? 0 : a.error * (std::fabs(y) + b.error);
      double ofb = b.error == 0 ? 0 : b.error * std::fabs(x);
      return {ofa + ofb, arithmetic};
    }
    case CellOp::div: return {error_of_quotient(a, b, r), quotient};
    case CellOp::mod: return {error_of_remainder(a, b, u), arithmetic};
    case CellOp::min:
    case CellOp::max: return {std::max(a.error, b.error), exact};
    case CellOp::sign:
    case CellOp::floor:
    case CellOp::ceil:
    case CellOp::round: return {spread(op, a), exact};
    case CellOp::exp:
    case CellOp::log:
    case CellOp::log1p:
    case CellOp::expm1:
    case CellOp::sqrt:
    case CellOp::rsqrt:
    case CellOp::asin:
    case CellOp::acos:
    case CellOp::atan:
    case CellOp::sinh:
    case CellOp::tanh:
    case CellOp::asinh:
    case CellOp::acosh:
    case CellOp::atanh:
    case CellOp::erf: return {spread(op, a), by_library};
    case CellOp::sigmoid: return {spread(op, a), composite};
    case CellOp::sin:
    case CellOp::cos: return {std::min(a.error, 2.0), by_library};
    case CellOp::tan: return {error_of_tan(a), by_library};
    case CellOp::cosh: return {error_of_cosh(a), by_library};
    case CellOp::pow: return {error_of_pow(a, b, r), by_library};
    default: return {infinity, exact};  // comparisons and integer operations have separate rules
  }
}

// An infinite or NaN result is certain if an operand certainly was, and no other operand can change it.
double error_of_non_finite(CellOp op, Cell a, Cell b) {
  if (a.error == 0 && b.error == 0) return 0;
  if (std::isfinite(a.value.f) && std::isfinite(b.value.f)) return infinity;  // an overflow, or the edge of a domain
  bool scales = op == CellOp::mul || op == CellOp::div;
  auto may_change_sign = [](Cell c) { return c.error > 0 && std::fabs(c.value.f) <= c.error; };
  if (scales && (may_change_sign(a) || may_change_sign(b))) return infinity;
  return op == CellOp::pow || op == CellOp::mod ? infinity : 0;
}

double error_of_comparison(CellOp op, ElementType type, Cell a, Cell b) {
  double errors = a.error + b.error;
  if (op == CellOp::logical_not) return a.error > 0 ? 1 : 0;
  if (op == CellOp::isnan) return std::isinf(a.error) ? 1 : 0;
  if (op == CellOp::isinf) return a.error > 0 && !(std::fabs(a.value.f) + a.error <= greatest_finite(type)) ? 1 : 0;
  if (errors == 0) return 0;
  if (std::isinf(errors)) return 1;
  double distance = is_float(type) ? std::fabs(a.value.f - b.value.f)
                                   : std::fabs(static_cast<double>(a.value.i) - static_cast<double>(b.value.i));
  return distance <= errors ? 1 : 0;
}

double error_of_integers(CellOp op, ElementType type, Cell a, Cell b, Number result) {
  if (a.error == 0 && b.error == 0) return 0;
  double error = infinity;
  if (op == CellOp::neg || op == CellOp::abs) error = a.error;
  if (op == CellOp::add || op == CellOp::sub) error = a.error + b.error;
  if (op == CellOp::min || op == CellOp::max) error = std::max(a.error, b.error);
  double r = static_cast<double>(result.i);
  bool may_wrap = r + error >= static_cast<double>(greatest_integer(type)) ||
                  r - error <= static_cast<double>(least_integer(type));
  return may_wrap ? infinity : error;
}

bool has_second_operand(CellOp op) { return info(op).arity == 2; }

// Slightly wider, so that computing in f64 does not move the ends of the interval inwards.
Cell widened(Cell a) { return {a.value, a.error * (1 + 0x1p-40)}; }

}  // namespace

double unit_roundoff(ElementType type) { return std::ldexp(1.0, -info(compute_type(type)).mantissa_bits) + 0x1p-53; }

double smallest_normal(ElementType type) {
  return compute_type(type) == ElementType::f64 ? std::numeric_limits<double>::min()
                                                : std::numeric_limits<float>::min();
}

double error_of(CellOp op, ElementType type, Cell a, Cell b, Number result) {
  a = widened(a);
  b = has_second_operand(op) ? widened(b) : Cell{};
  CellKind kind = info(op).kind;
  if (kind == CellKind::comparison || op == CellOp::logical_not) return error_of_comparison(op, type, a, b);
  if (!is_float(type)) return error_of_integers(op, type, a, b, result);
  if (std::isinf(a.error) || std::isinf(b.error)) return infinity;
  double r = result.f;
  if (!std::isfinite(r)) return error_of_non_finite(op, a, b);
  double u = unit_roundoff(type);
  Rule rule = rule_of(op, a, b, r, u);
  if (rule.roundings == exact && rule.propagated == 0) return 0;
  double error = rule.propagated * (1 + 8 * u) + rule.roundings * u * std::fabs(r) + smallest_normal(type);
  return std::fabs(r) + error <= greatest_finite(compute_type(type)) ? error : infinity;  // NaN counts as infinite
}

double error_of_cast(ElementType from, ElementType to, Cell a, Number result) {
  if (a.error == 0) return 0;
  a = widened(a);
  if (is_bool(to)) return is_float(from) ? (std::fabs(a.value.f) <= a.error ? 1 : 0) : 1;
  if (is_float(to)) {
    return error_after_rounding(to, {is_float(from) ? a.value : number(static_cast<double>(a.value.i)), a.error});
  }
  if (std::isinf(a.error)) return infinity;
  if (!is_float(from)) return error_of_integers(CellOp::neg, to, a, {}, result);
  auto as_integer = [&](double x) { return static_cast<double>(apply_cast(from, to, number(x)).i); };
  return spread(as_integer, a);
}

double error_after_rounding(ElementType type, Cell cell) {
  if (cell.error == 0 || !is_float(type)) return cell.error;
  double x = std::fabs(cell.value.f), u = std::ldexp(1.0, -info(type).mantissa_bits);
  if (!std::isfinite(x)) return cell.error;
  double underflow = type == ElementType::f16 ? 0x1p-24 : smallest_normal(type);
  double error = cell.error + u * (2 * x + cell.error) + underflow;
  return x + error <= greatest_finite(type) ? error : infinity;
}

double distance(ElementType type, Number a, Number b) {
  if (!is_float(type)) return std::fabs(static_cast<double>(a.i) - static_cast<double>(b.i));
  if (a.f == b.f) return std::signbit(a.f) == std::signbit(b.f) ? 0 : signed_zeros;
  if (std::isnan(a.f) && std::isnan(b.f)) return 0;
  double d = std::fabs(a.f - b.f);
  return std::isnan(d) ? infinity : d;
}

}  // namespace tap::ir::oracle
