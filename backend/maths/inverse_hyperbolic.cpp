// asinh, acosh and atanh: log1p with a correction for the rounding of its argument.
#include <limits>

#include "backend/maths/functions.h"
#include "backend/maths/log.h"

namespace tap::backend::maths {
namespace {

// Above this, asinh and acosh are log(2x).
Mask is_large(Real a) { return a > a.number(0x1p26, 0x1p55); }

// log(1 + a + b), |a| >= |b|; where x is large, log(2 x).
Real log_of_sum(Real x, Real a, Real b) {
  Mask large = is_large(x);
  Real t = a + b;
  Real low = b - (t - a);
  return log1p_of(select(large, x, t), select(large, 0.0, low), select(large, 1.0, x.number(0)));
}

}  // namespace

// a + sqrt(a² + 1) = 1 + a + a² / (1 + sqrt(a² + 1))
Real asinh(Real x) {
  Real a = abs(x), square = a * a;
  return copy_sign(log_of_sum(a, a, square / (sqrt(fma(a, a, 1.0)) + 1.0)), x);
}

// With t = x - 1: x + sqrt(x² - 1) = 1 + t + sqrt(t² + 2t). The greater term comes first: the root, until t is large.
Real acosh(Real x) {
  Real t = x - 1.0;
  Real inside = log_of_sum(x, sqrt(fma(t, t, t + t)), t);
  return select(x < 1.0, std::numeric_limits<double>::quiet_NaN(), inside);
}

// log((1 + a) / (1 - a)) / 2, and the quotient is 1 + 2a / (1 - a).
Real atanh(Real x) {
  Real a = abs(x), twice = a + a, divisor = 1.0 - a;
  Real divisor_low = (1.0 - divisor) - a;
  Real t = twice / divisor;
  Real low = fma(-t, divisor_low, fma(-t, divisor, twice)) / divisor;
  Real r = log1p_of(t, low, x.number(0)) * 0.5;
  return copy_sign(select(a == 1.0, std::numeric_limits<double>::infinity(), r), x);
}

}  // namespace tap::backend::maths
