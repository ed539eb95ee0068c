#include "compiler/frontend/laws_numbers.h"

#include <cmath>
#include <limits>

#include "support/check.h"
#include "support/checked.h"

namespace tap {
namespace {

using ir::CellOp;
using ir::Scalar;

Scalar real(ElementType type, double f) { return {type, 0, f}; }
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double float_function(CellOp op, double x) {
  switch (op) {
    case CellOp::neg: return -x;
    case CellOp::abs: return std::fabs(x);
    case CellOp::sign: return std::isnan(x) ? x : double(x > 0) - double(x < 0);
    case CellOp::exp: return std::exp(x);
    case CellOp::log: return std::log(x);
    case CellOp::log1p: return std::log1p(x);
    case CellOp::expm1: return std::expm1(x);
    case CellOp::sqrt: return std::sqrt(x);
    case CellOp::rsqrt: return 1 / std::sqrt(x);
    case CellOp::floor: return std::floor(x);
    case CellOp::ceil: return std::ceil(x);
    case CellOp::round: return std::nearbyint(x);
    case CellOp::sin: return std::sin(x);
    case CellOp::cos: return std::cos(x);
    case CellOp::tan: return std::tan(x);
    case CellOp::asin: return std::asin(x);
    case CellOp::acos: return std::acos(x);
    case CellOp::atan: return std::atan(x);
    case CellOp::sinh: return std::sinh(x);
    case CellOp::cosh: return std::cosh(x);
    case CellOp::tanh: return std::tanh(x);
    case CellOp::asinh: return std::asinh(x);
    case CellOp::acosh: return std::acosh(x);
    case CellOp::atanh: return std::atanh(x);
    case CellOp::erf: return std::erf(x);
    case CellOp::sigmoid: return 1 / (1 + std::exp(-x));
    default: TAP_UNREACHABLE("not a function of one float");
  }
}

double float_operation(CellOp op, double a, double b) {
  switch (op) {
    case CellOp::add: return a + b;
    case CellOp::sub: return a - b;
    case CellOp::mul: return a * b;
    case CellOp::div: return a / b;
    case CellOp::mod: return a - b * std::floor(a / b);
    case CellOp::pow: return std::pow(a, b);
    case CellOp::min: return std::isnan(a) || std::isnan(b) ? nan : a < b || (a == b && std::signbit(a)) ? a : b;
    case CellOp::max: return std::isnan(a) || std::isnan(b) ? nan : a > b || (a == b && std::signbit(b)) ? a : b;
    default: TAP_UNREACHABLE("not an operation on two floats");
  }
}

std::int64_t shifted(std::int64_t a, std::int64_t by, std::int64_t width, bool left) {
  if (left) return by >= width ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << by);
  return a >> std::min<std::int64_t>(by, 63);
}

// Wrapping is done by the caller. What fails at run time has no value: the law is not asked there, as for NaN.
std::optional<std::int64_t> integer_operation(CellOp op, std::int64_t a, std::int64_t b, std::int64_t width) {
  auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  switch (op) {
    case CellOp::neg: return static_cast<std::int64_t>(0 - ua);
    case CellOp::abs: return a < 0 ? static_cast<std::int64_t>(0 - ua) : a;
    case CellOp::sign: return (a > 0) - (a < 0);
    case CellOp::bitnot: return ~a;
    case CellOp::add: return static_cast<std::int64_t>(ua + ub);
    case CellOp::sub: return static_cast<std::int64_t>(ua - ub);
    case CellOp::mul: return static_cast<std::int64_t>(ua * ub);
    case CellOp::div:
      if (b == 0) return std::nullopt;
      return b == -1 ? static_cast<std::int64_t>(0 - ua) : checked::floor_div(a, b);
    case CellOp::mod:
      if (b == 0) return std::nullopt;
      return checked::floor_mod(a, b);
    case CellOp::min: return std::min(a, b);
    case CellOp::max: return std::max(a, b);
    case CellOp::bitand_: return a & b;
    case CellOp::bitor_: return a | b;
    case CellOp::bitxor_: return a ^ b;
    case CellOp::shl:
    case CellOp::shr:
      if (b < 0) return std::nullopt;
      return shifted(a, b, width, op == CellOp::shl);
    default: TAP_UNREACHABLE("not an operation on integers");
  }
}

Scalar cast_to(ElementType type, const Scalar& v) {
  if (is_float(type)) return real(type, is_float(v.type) ? v.f : static_cast<double>(v.i));
  if (is_bool(type)) return Scalar::boolean(is_float(v.type) ? v.f != 0 : v.i != 0);
  if (!is_float(v.type)) return Scalar::integer(type, wrap(v.i, type));
  if (std::isnan(v.f)) return Scalar::integer(type, 0);
  double least = static_cast<double>(least_integer(type)), greatest = static_cast<double>(greatest_integer(type));
  if (v.f <= least) return Scalar::integer(type, least_integer(type));
  if (v.f >= greatest) return Scalar::integer(type, greatest_integer(type));
  return Scalar::integer(type, static_cast<std::int64_t>(v.f));
}

bool comparison(CellOp op, const Scalar& a, const Scalar& b) {
  bool floats = is_float(a.type);
  switch (op) {
    case CellOp::equal: return floats ? a.f == b.f : a.i == b.i;
    case CellOp::not_equal: return floats ? a.f != b.f : a.i != b.i;
    case CellOp::less: return floats ? a.f < b.f : a.i < b.i;
    case CellOp::less_equal: return floats ? a.f <= b.f : a.i <= b.i;
    default: TAP_UNREACHABLE("not a comparison");
  }
}

}  // namespace

Scalar NumberAlgebra::apply(const ir::CellNode& node, const std::vector<Scalar>& args) const {
  for (const Scalar& arg : args) {  // a value that failed
    if (!is_float(arg.type) && is_nan(arg)) return {node.type, 0, nan};
  }
  const Scalar& a = args[0];
  switch (info(node.op).kind) {
    case ir::CellKind::comparison:
      if (node.op == CellOp::isnan) return Scalar::boolean(std::isnan(a.f));
      if (node.op == CellOp::isinf) return Scalar::boolean(std::isinf(a.f));
      return Scalar::boolean(comparison(node.op, a, args[1]));
    case ir::CellKind::logical: return Scalar::boolean(a.i == 0);
    case ir::CellKind::cast: return cast_to(node.type, a);
    case ir::CellKind::arithmetic:
    case ir::CellKind::function:
    case ir::CellKind::integer_function: break;
    default: TAP_UNREACHABLE("not a strict cell");
  }
  if (is_float(node.type)) {
    return real(node.type, args.size() == 1 ? float_function(node.op, a.f) : float_operation(node.op, a.f, args[1].f));
  }
  auto result = integer_operation(node.op, a.i, args.size() == 2 ? args[1].i : 0, 8 * std::int64_t(size_of(node.type)));
  if (!result) return {node.type, 0, nan};
  return Scalar::integer(node.type, wrap(*result, node.type));
}

bool NumberAlgebra::agree(const Scalar& a, const Scalar& b) const {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b);
  if (!is_float(a.type)) return a.i == b.i;
  if (a.f == b.f) return true;
  double scale = std::max({1.0, std::fabs(a.f), std::fabs(b.f)});
  return std::isfinite(scale) && std::fabs(a.f - b.f) <= 1e-6 * scale;
}

std::size_t NumberAlgebra::same(const std::vector<Value>& a, const std::vector<Value>& b) {
  std::size_t equal = 0;
  for (std::size_t k = 0; k < a.size(); ++k) equal += is_float(a[k].type) ? a[k].f == b[k].f : a[k].i == b[k].i;
  return equal;
}

int NumberAlgebra::infinity(const Scalar& v) const {
  return is_float(v.type) && std::isinf(v.f) ? (v.f > 0 ? 1 : -1) : 0;
}

}  // namespace tap
