// What native functions are measured against: the C library one precision up, which is right to 2^-29 units in the last
// place of a float and to about 2^-10 of a double.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "ir/cell.h"
#include "support/check.h"

namespace tap::backend::test {

template <class T>
T oracle(ir::CellOp op, T x, T y) {
  using ir::CellOp;
  switch (op) {
    case CellOp::sqrt: return std::sqrt(x);
    case CellOp::rsqrt: return 1 / std::sqrt(x);
    case CellOp::sigmoid: return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
#define TAP_CELL_UNARY(name) \
  case CellOp::name: return std::name(x)
      TAP_CELL_UNARY(exp);
      TAP_CELL_UNARY(log);
      TAP_CELL_UNARY(log1p);
      TAP_CELL_UNARY(expm1);
      TAP_CELL_UNARY(sin);
      TAP_CELL_UNARY(cos);
      TAP_CELL_UNARY(tan);
      TAP_CELL_UNARY(asin);
      TAP_CELL_UNARY(acos);
      TAP_CELL_UNARY(atan);
      TAP_CELL_UNARY(sinh);
      TAP_CELL_UNARY(cosh);
      TAP_CELL_UNARY(tanh);
      TAP_CELL_UNARY(asinh);
      TAP_CELL_UNARY(acosh);
      TAP_CELL_UNARY(atanh);
      TAP_CELL_UNARY(erf);
#undef TAP_CELL_UNARY
    case CellOp::pow: return std::pow(x, y);
    default: TAP_UNREACHABLE("no oracle");
  }
}

template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// How far `got` is from `exact`, in units in the last place of what is exact. Infinity counts as the power of two behind
// the greatest number; a wrong nan or zero's sign, as infinitely far.
template <class T>
double ulps(T got, Wider<T> exact) {
  using Limits = std::numeric_limits<T>;
  using W = Wider<T>;
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : wrong;
  if (got == 0 && exact == 0) return std::signbit(got) == std::signbit(exact) ? 0 : wrong;
  if (got != 0 && exact != 0 && std::signbit(got) != std::signbit(exact)) return wrong;
  W end = std::ldexp(W(1), Limits::max_exponent);
  auto finite = [&](W v) { return std::isinf(v) || std::fabs(v) > end ? std::copysign(end, v) : v; };
  W a = finite(static_cast<W>(got)), e = finite(exact);
  int exponent = e == 0 ? Limits::min_exponent : std::max(std::ilogb(e) + 1, Limits::min_exponent);
  exponent = std::min(exponent, Limits::max_exponent);
  return static_cast<double>(std::fabs(a - e) / std::ldexp(W(1), exponent - Limits::digits));
}

}  // namespace tap::backend::test
