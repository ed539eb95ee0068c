// Operations on constants: integers wrap, floats are exact or nothing.
#include <bit>
#include <cmath>
#include <limits>

#include "check/axioms.h"

namespace tap::check {

using ir::CellOp, ir::Scalar;

namespace {

using Unsigned = std::uint64_t;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double library(double (*f)(double), double a, double) { return f(a); }
double library(double (*f)(double, double), double a, double b) { return f(a, b); }

std::optional<double> of_floats(CellOp op, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b), b_first = b < a || (a == b && std::signbit(b));
  switch (op) {
    case CellOp::neg: return -a;
    case CellOp::add: return a + b;
    case CellOp::sub: return a - b;
    case CellOp::mul: return a * b;
    case CellOp::div: return a / b;
    case CellOp::min: return unordered ? nan : b_first ? b : a;
    case CellOp::max: return unordered ? nan : b_first ? a : b;
    case CellOp::abs: return std::fabs(a);
    case CellOp::sign: return a > 0 ? 1 : a < 0 ? -1 : a;
    case CellOp::sqrt: return std::sqrt(a);
    case CellOp::rsqrt: return 1 / std::sqrt(a);
    case CellOp::floor: return std::floor(a);
    case CellOp::ceil: return std::ceil(a);
    case CellOp::round:
      return std::nearbyint(a);
// clang-format off
#define TAP_CELL_LIBRARY(name, ...) case CellOp::name: return library(std::name, a, b);
#include "ir/cell_ops.def"
    // clang-format on
    case CellOp::sigmoid: return a >= 0 ? 1 / (1 + std::exp(-a)) : std::exp(a) / (1 + std::exp(a));
    default: return std::nullopt;
  }
}

std::optional<bool> compared(CellOp op, bool less, bool equal) {
  switch (op) {
    case CellOp::equal: return equal;
    case CellOp::not_equal: return !equal;
    case CellOp::less: return less;
    case CellOp::less_equal: return less || equal;
    default: return std::nullopt;
  }
}

std::optional<std::int64_t> of_integers(CellOp op, ElementType type, std::int64_t a, std::int64_t b) {
  auto x = static_cast<Unsigned>(a), y = static_cast<Unsigned>(b);
  auto width = static_cast<std::int64_t>(8 * size_of(type));
  std::int64_t quotient = b == 0 || b == -1 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  switch (op) {
    case CellOp::neg: return static_cast<std::int64_t>(0 - x);
    case CellOp::add: return static_cast<std::int64_t>(x + y);
    case CellOp::sub: return static_cast<std::int64_t>(x - y);
    case CellOp::mul: return static_cast<std::int64_t>(x * y);
    case CellOp::div:
      return b == 0 ? std::nullopt : std::optional(b == -1 ? static_cast<std::int64_t>(0 - x) : quotient);
    case CellOp::mod: return b == 0 ? std::nullopt : std::optional(b == -1 ? 0 : a - quotient * b);
    case CellOp::min: return std::min(a, b);
    case CellOp::max: return std::max(a, b);
    case CellOp::abs: return a < 0 ? static_cast<std::int64_t>(0 - x) : a;
    case CellOp::sign: return (a > 0) - (a < 0);
    case CellOp::logical_not: return a == 0;
    case CellOp::isnan:
    case CellOp::isinf: return 0;
    case CellOp::bitand_: return a & b;
    case CellOp::bitor_: return a | b;
    case CellOp::bitxor_: return a ^ b;
    case CellOp::bitnot: return is_bool(type) ? a == 0 : ~a;
    case CellOp::shl: return b < 0 ? std::nullopt : std::optional(b >= width ? 0 : static_cast<std::int64_t>(x << b));
    case CellOp::shr: return b < 0 ? std::nullopt : std::optional(b >= width ? (a < 0 ? -1 : 0) : a >> b);
    default: return std::nullopt;
  }
}

std::optional<Scalar> exact(ElementType type, double value) {
  Scalar scalar = Scalar::floating(type, value);
  return scalar == Scalar{type, 0, value} ? std::optional(scalar) : std::nullopt;
}
// Integers of every type but bool, reduced to it.
Scalar integer(ElementType type, std::int64_t value) {
  return Scalar::integer(type, is_bool(type) || type == ElementType::i64 ? value : wrap(value, type));
}

std::optional<Scalar> converted(ElementType to, const Scalar& a) {
  bool from_float = is_float(a.type);
  if (is_bool(to)) return Scalar::boolean(from_float ? a.f != 0 : a.i != 0);
  if (is_float(to)) {
    if (from_float) return Scalar::floating(to, a.f);
    bool small = a.i >= -(std::int64_t{1} << 53) && a.i <= (std::int64_t{1} << 53);  // larger ones would round twice
    return small ? std::optional(Scalar::floating(to, static_cast<double>(a.i))) : std::nullopt;
  }
  if (!from_float) return integer(to, a.i);
  if (std::isnan(a.f)) return integer(to, 0);
  if (a.f <= static_cast<double>(least_integer(to))) return integer(to, least_integer(to));
  if (a.f >= static_cast<double>(greatest_integer(to))) return integer(to, greatest_integer(to));
  return integer(to, static_cast<std::int64_t>(a.f));
}

}  // namespace

std::optional<Scalar> computed(CellOp op, ElementType type, const std::vector<Scalar>& args) {
  if (args.empty() || args.size() > 2) return std::nullopt;
  const Scalar &a = args[0], &b = args.back();
  if (op == CellOp::cast) return converted(type, a);
  if (!is_float(a.type)) {
    if (auto truth = compared(op, a.i < b.i, a.i == b.i)) return Scalar::boolean(*truth);
    auto value = of_integers(op, a.type, a.i, b.i);
    return value ? std::optional(integer(type, *value)) : std::nullopt;
  }
  if (op == CellOp::isnan) return Scalar::boolean(std::isnan(a.f));
  if (op == CellOp::isinf) return Scalar::boolean(std::isinf(a.f));
  if (auto truth = compared(op, a.f < b.f, a.f == b.f)) return Scalar::boolean(*truth);
  auto value = of_floats(op, a.f, b.f);
  return value ? exact(type, *value) : std::nullopt;
}

}  // namespace tap::check
