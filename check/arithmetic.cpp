// Operations on constants: integers wrap; floats have a result only if it is exact.
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

// The remainder of floor division: zero or of b's sign.
double remainder_of(double a, double b) {
  const double r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

std::optional<double> of_floats(CellOp op, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b), b_first = b < a || (a == b && std::signbit(b));
  switch (op) {
// clang-format off
#define TAP_FLOATS(name, value) case CellOp::name: return value;
#include "check/arithmetic.def"
#define TAP_CELL_LIBRARY(name, ...) case CellOp::name: return library(std::name, a, b);
#include "ir/cell_ops.def"
    // clang-format on
    default: return std::nullopt;
  }
}

std::optional<bool> compared(CellOp op, bool less, bool equal) {
  switch (op) {
// clang-format off
#define TAP_TRUTH(name, value) case CellOp::name: return value;
#include "check/arithmetic.def"
    // clang-format on
    default: return std::nullopt;
  }
}

using Integer = std::optional<std::int64_t>;
Integer signed_(Unsigned x) { return static_cast<std::int64_t>(x); }

Integer of_integers(CellOp op, ElementType type, std::int64_t a, std::int64_t b) {
  auto x = static_cast<Unsigned>(a), y = static_cast<Unsigned>(b);
  auto width = static_cast<std::int64_t>(8 * size_of(type));
  std::int64_t quotient = b == 0 || b == -1 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  const Integer undefined;
  switch (op) {
// clang-format off
#define TAP_INTEGERS(name, value) case CellOp::name: return value;
#include "check/arithmetic.def"
    // clang-format on
    default: return undefined;
  }
}

// Wraps to an integer type other than bool.
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
  Scalar scalar = Scalar::floating(type, value.value_or(0));
  return value && scalar == Scalar{type, 0, *value} ? std::optional(scalar) : std::nullopt;
}

}  // namespace tap::check
