// 64-bit arithmetic that refuses to wrap. Everything about index spaces is computed with it; the frontend turns
// Overflow into a diagnostic at the expression that caused it.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace tap {

struct Overflow : std::runtime_error {
  Overflow() : std::runtime_error("the result does not fit in 64 bits") {}
};

namespace checked {

inline std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_add_overflow(a, b, &r)) throw Overflow();
  return r;
}
inline std::int64_t sub(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) throw Overflow();
  return r;
}
inline std::int64_t mul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw Overflow();
  return r;
}

// Division rounding towards minus infinity, and the corresponding remainder (same sign as b). b must not be 0.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == -1) return sub(0, a);
  std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
inline std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  std::int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}

}  // namespace checked
}  // namespace tap
