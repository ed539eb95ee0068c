// The parts of exp that other functions build on: exp(x) = 2^n exp(r), |r| <= ln(2)/2.
#pragma once

#include "backend/maths/value.h"

namespace tap::backend::maths {

struct ExpArgument {
  Real r;
  Real lost;     // the rounding error of r
  Real n;        // an integer
  Bits shifted;  // n + 2 bias in the low bits, others above
};
// Pre: |n| is within the exponent range of the type, including subnormals and one more than the greatest.
ExpArgument reduce_exp(Real x);

// 2^(n / 2), rounded down and up: the product is 2^n, also if that is subnormal or overflows.
struct Halves {
  Real low, high;
};
Halves power_of_two(const ExpArgument& a);

// 2^n itself. Pre: it is a normal number.
Real normal_power_of_two(const ExpArgument& a);

// exp(r) - 1 - r, for the exact argument.
Real exp_above_line(const ExpArgument& a);

// exp(x), if it is a normal number.
Real exp_of_moderate(Real x);
// exp(high + low) for any high; low is small.
Real exp_in_two(Real high, Real low);
// exp(x) for x <= 0, or nan.
Real exp_of_negative(Real x);

}  // namespace tap::backend::maths
