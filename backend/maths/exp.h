// The parts of exp that other functions build on: exp(x) = 2^n exp(r), |r| <= ln(2)/2.
#pragma once

#include "backend/maths/value.h"

namespace tap::backend::maths {

struct ExpArgument {
  Real r;
  Real lost;     // what r lacks through its rounding
  Real n;        // an integer
  Bits shifted;  // n + 2 bias in the low bits, others above
};
// Pre: |n| does not pass what a double or float has exponents for, subnormals and one beyond the greatest included.
ExpArgument reduce_exp(Real x);

// 2^(n / 2), rounded down and up: together 2^n also where that is subnormal or overflows.
struct Halves {
  Real low, high;
};
Halves power_of_two(const ExpArgument& a);

// 2^n itself. Pre: it is a normal number.
Real normal_power_of_two(const ExpArgument& a);

// What exp(r) - 1 has above r, for the exact argument.
Real exp_above_line(const ExpArgument& a);

// exp(x) where it is a normal number.
Real exp_of_moderate(Real x);
// exp(high + low), whatever high is; low is small.
Real exp_in_two(Real high, Real low);
// exp(x) for x <= 0, or nan.
Real exp_of_negative(Real x);

}  // namespace tap::backend::maths
