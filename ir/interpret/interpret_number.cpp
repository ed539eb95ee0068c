// The arithmetic of the oracle, one line per cell operation.
#include "ir/interpret/interpret_number.h"

#include <cmath>
#include <limits>

#include "support/check.h"
#include "support/half.h"

namespace tap::ir::oracle {
namespace {

// min and max propagate NaN, and order -0 below +0.
double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

// The remainder of floor division: zero or of b's sign.
double floor_mod(double a, double b) {
  double r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

double sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : std::isnan(a) ? a : 0; }

double sigmoid(double a) {
  if (a >= 0) return 1 / (1 + std::exp(-a));
  double e = std::exp(a);  // cannot overflow
  return e / (1 + e);
}

double library(double (*function)(double), double a, double) { return function(a); }
double library(double (*function)(double, double), double a, double b) { return function(a, b); }

// Two's complement arithmetic without undefined behaviour: in unsigned, then wrapped.
std::uint64_t bits(Number a) { return static_cast<std::uint64_t>(a.i); }
Number wrapped(std::uint64_t value, ElementType type) {
  auto i = static_cast<std::int64_t>(value);
  return integer(type == ElementType::i64 || is_bool(type) ? i : wrap(i, type));
}

Number divide(ElementType type, Number a, Number b) {
  if (b.i == 0) throw CellFailure{"division by zero"};
  if (b.i == -1) return wrapped(0 - bits(a), type);  // the least number wraps to itself
  std::int64_t q = a.i / b.i;
  return integer(a.i % b.i != 0 && (a.i < 0) != (b.i < 0) ? q - 1 : q);
}
Number modulo(Number a, Number b) {
  if (b.i == 0) throw CellFailure{"remainder of a division by zero"};
  if (b.i == -1) return integer(0);
  std::int64_t r = a.i % b.i;
  return integer(r != 0 && (r < 0) != (b.i < 0) ? r + b.i : r);
}

void check_shift(Number by) {
  if (by.i < 0) throw CellFailure{"shift by the negative number " + std::to_string(by.i)};
}
Number shift_left(ElementType type, Number a, Number by) {
  check_shift(by);
  auto width = static_cast<std::int64_t>(8 * size_of(type));
  return by.i >= width ? integer(0) : wrapped(bits(a) << by.i, type);
}
Number shift_right(ElementType type, Number a, Number by) {
  check_shift(by);
  auto width = static_cast<std::int64_t>(8 * size_of(type));
  if (by.i >= width) return integer(a.i < 0 ? -1 : 0);
  return integer(a.i >> by.i);
}

std::int64_t saturate(double value, ElementType to) {
  if (std::isnan(value)) return 0;
  std::int64_t least = least_integer(to), greatest = greatest_integer(to);
  double whole = std::trunc(value);
  if (whole <= static_cast<double>(least)) return least;
  if (whole >= static_cast<double>(greatest)) return greatest;  // 2^63 if the type is i64
  return static_cast<std::int64_t>(whole);
}

}  // namespace

Number apply_float(CellOp op, Number x, Number y) {
  double a = x.f, b = y.f;
  switch (op) {
    case CellOp::neg: return number(-a);
    case CellOp::add: return number(a + b);
    case CellOp::sub: return number(a - b);
    case CellOp::mul: return number(a * b);
    case CellOp::div: return number(a / b);
    case CellOp::mod: return number(floor_mod(a, b));
    case CellOp::min: return number(minimum(a, b));
    case CellOp::max: return number(maximum(a, b));
    case CellOp::abs: return number(std::fabs(a));
    case CellOp::sign: return number(sign(a));
    case CellOp::equal: return integer(a == b);
    case CellOp::not_equal: return integer(a != b);
    case CellOp::less: return integer(a < b);
    case CellOp::less_equal: return integer(a <= b);
    case CellOp::isnan: return integer(std::isnan(a));
    case CellOp::isinf: return integer(std::isinf(a));
    case CellOp::sqrt: return number(std::sqrt(a));
    case CellOp::rsqrt: return number(1 / std::sqrt(a));
    case CellOp::floor: return number(std::floor(a));
    case CellOp::ceil: return number(std::ceil(a));
    case CellOp::round: return number(std::nearbyint(a));  // to nearest even
    case CellOp::sigmoid: return number(sigmoid(a));
#define TAP_CELL_LIBRARY(name, ...) \
  case CellOp::name:                \
    return number(library(std::name, a, b));
#include "ir/cell_ops.def"
#define TAP_CELL_FRAME(name, ...) case CellOp::name:
#define TAP_CELL_INTEGER(name, ...) case CellOp::name:
#include "ir/cell_ops.def"
      break;
  }
  TAP_UNREACHABLE("`" + std::string(info(op).name) + "` is not an operation on floats");
}

Number apply_integer(CellOp op, ElementType type, Number a, Number b) {
  switch (op) {
    case CellOp::neg: return wrapped(0 - bits(a), type);
    case CellOp::add: return wrapped(bits(a) + bits(b), type);
    case CellOp::sub: return wrapped(bits(a) - bits(b), type);
    case CellOp::mul: return wrapped(bits(a) * bits(b), type);
    case CellOp::div: return divide(type, a, b);
    case CellOp::mod: return modulo(a, b);
    case CellOp::min: return integer(a.i < b.i ? a.i : b.i);
    case CellOp::max: return integer(a.i > b.i ? a.i : b.i);
    case CellOp::abs: return a.i < 0 ? wrapped(0 - bits(a), type) : a;
    case CellOp::sign: return integer((a.i > 0) - (a.i < 0));
    case CellOp::equal: return integer(a.i == b.i);
    case CellOp::not_equal: return integer(a.i != b.i);
    case CellOp::less: return integer(a.i < b.i);
    case CellOp::less_equal: return integer(a.i <= b.i);
    case CellOp::logical_not: return integer(a.i == 0);
    case CellOp::bitand_: return integer(a.i & b.i);
    case CellOp::bitor_: return integer(a.i | b.i);
    case CellOp::bitxor_: return integer(a.i ^ b.i);
    case CellOp::bitnot: return is_bool(type) ? integer(a.i == 0) : wrapped(~bits(a), type);
    case CellOp::shl: return shift_left(type, a, b);
    case CellOp::shr: return shift_right(type, a, b);
#define TAP_CELL_FRAME(name, ...) case CellOp::name:
#define TAP_CELL_FLOAT(name, ...) case CellOp::name:
#define TAP_CELL_LIBRARY(name, ...) case CellOp::name:
#include "ir/cell_ops.def"
      break;
  }
  TAP_UNREACHABLE("`" + std::string(info(op).name) + "` is not an operation on integers");
}

Number apply_cast(ElementType from, ElementType to, Number a) {
  if (is_bool(to)) return integer(is_float(from) ? a.f != 0 : a.i != 0);
  if (is_float(from)) return is_float(to) ? number(round_to(a.f, to)) : integer(saturate(a.f, to));
  if (to == ElementType::f32) return number(static_cast<float>(a.i));  // rounds once, not twice via f64
  if (to == ElementType::f64) return number(static_cast<double>(a.i));
  if (is_float(to)) return number(round_to(static_cast<double>(folded_for_half(a.i)), to));  // likewise
  return wrapped(bits(a), to);
}

}  // namespace tap::ir::oracle
