// Points at which native functions are tried: any bit patterns, and the ranges where each function does something.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <tuple>

#include "ir/cell.h"

namespace tap::backend::test {

using ir::CellOp;

constexpr CellOp functions[] = {
#define TAP_CELL_LIBRARY(name, ...) CellOp::name,
#include "ir/cell_ops.def"
    CellOp::sigmoid, CellOp::sqrt, CellOp::rsqrt};

inline bool is_odd(CellOp op) {
  switch (op) {
    case CellOp::sin:
    case CellOp::tan:
    case CellOp::asin:
    case CellOp::atan:
    case CellOp::sinh:
    case CellOp::tanh:
    case CellOp::asinh:
    case CellOp::atanh:
    case CellOp::erf: return true;
    default: return false;
  }
}

template <class T>
using Pattern = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;

template <class T>
class Points {
 public:
  Points(CellOp op, std::uint64_t seed) : op_(op), random_(seed) {}

  // A quarter are any bits, the rest of the size where the function changes.
  std::pair<T, T> next() {
    if (random_() % 4 == 0) return {any(), random_() % 2 == 0 ? any() : ordinary().second};
    return random_() % 2 == 0 ? ordinary() : of_any_size();
  }
  // Inside the domain, of moderate size.
  std::pair<T, T> ordinary() {
    switch (op_) {
      case CellOp::log:
      case CellOp::sqrt:
      case CellOp::rsqrt: return {uniform(0, 4), 0};
      case CellOp::log1p: return {uniform(-1, 3), 0};
      case CellOp::exp:
      case CellOp::expm1:
      case CellOp::sinh:
      case CellOp::cosh: return {uniform(-20, 20), 0};
      case CellOp::asin:
      case CellOp::acos:
      case CellOp::atanh: return {uniform(-1, 1), 0};
      case CellOp::acosh: return {uniform(1, 5), 0};
      case CellOp::pow: return {uniform(0, 4), uniform(-20, 20)};
      default: return {uniform(-5, 5), 0};
    }
  }

 private:
  T any() { return std::bit_cast<T>(static_cast<Pattern<T>>(random_())); }
  T uniform(double low, double high) {
    return static_cast<T>(low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53);
  }
  // Exponents between those of 2^-40 and 2^12, where nearly all of every function's ranges begin and end.
  std::pair<T, T> of_any_size() {
    auto size = [&] {
      double sign = op_ == CellOp::pow && random_() % 8 ? 1 : random_() % 2 == 0 ? 1 : -1;
      return static_cast<T>(std::copysign(std::ldexp(uniform(1, 2), static_cast<int>(random_() % 52) - 40), sign));
    };
    T x = size();
    if (op_ == CellOp::sin || op_ == CellOp::cos || op_ == CellOp::tan) {  // at multiples of π/2, too
      constexpr double right = 1.5707963267948966;
      return {random_() % 2 == 0 ? x : static_cast<T>(std::round(x * T(1000)) * right), T(0)};
    }
    if (op_ != CellOp::pow) return {x, 0};
    // An exponent for which the result is a number, more often than not.
    double most = 1100 / std::max(std::fabs(std::log2(std::fabs(static_cast<double>(x)))), 1e-9);
    return {x, uniform(-most, most)};
  }

  CellOp op_;
  std::mt19937_64 random_;
};

}  // namespace tap::backend::test
