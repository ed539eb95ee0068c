// pow: exp(y log x). For floats in double precision; for doubles with a logarithm in two parts, accurate to 2^-64,
// since the exponential multiplies its error by up to 745.
#include <limits>

#include "backend/maths/exp.h"
#include "backend/maths/functions.h"
#include "backend/maths/log.h"

namespace tap::backend::maths {
namespace {

// atanh(s) = s + s z (1/3 + z q(z)), z = s²: scripts/minimax.py.
constexpr double log_tail_f64[] = {0.20000000000000001,   0.14285714285713458,   0.11111111111351027,
                                   9.0909090544869828e-2, 7.6923109358408667e-2, 6.6664894413413153e-2,
                                   5.8883046284716974e-2, 5.1455907480697657e-2, 5.9674186847742873e-2};

constexpr double infinity = std::numeric_limits<double>::infinity();

// high + low, |low| at most half a unit in the last place of high, about.
struct Two {
  Real high, low;
};

Two product(Real x, Real y) {
  Real high = x * y;
  return {high, fma(x, y, -high)};
}

// Pre: |x| >= |y|, or x is 0.
Two sum(Real x, Real y) {
  Real high = x + y;
  return {high, (x - high) + y};
}

// log of a positive double: 2 atanh(s) with s = (m - 1) / (m + 1), and e ln 2.
Two log_in_two(Real x) {
  Parts p = split_any(x);
  Real numerator = p.m - 1.0, divisor = p.m + 1.0;
  Real divisor_low = p.m - (divisor - 1.0), inverse = 1.0 / divisor;
  Real s = numerator * inverse;
  Real s_low = fma(-s, divisor_low, fma(-s, divisor, numerator)) * inverse;
  Two z = product(s, s);
  z.low = fma(s * 2.0, s_low, z.low);
  // w = 1/3 + z q(z); atanh(s) = s + s z w
  Two w = sum(x.number(0x1.5555555555555p-2), z.high * wide_polynomial(z.high, log_tail_f64));
  w.low = w.low + 0x1.5555555555555p-56;
  Two zw = product(z.high, w.high);
  zw.low = fma(z.high, w.low, fma(z.low, w.high, zw.low));
  Two above = product(s, zw.high);
  above.low = fma(s, zw.low, fma(s_low, zw.high, above.low));
  Two m = sum(s, above.high);
  m.low = m.low + (above.low + s_low);
  // ln 2 with enough trailing zeros that e times it is exact.
  Two l = sum(p.e * 0x1.62e42fefa38p-1, m.high * 2.0);
  return {l.high, fma(p.e, 0x1.ef35793c7673p-45, fma(m.low, 2.0, l.low))};
}

Real power_of_double(Real a, Real y) {
  Two l = log_in_two(a);
  l.high = select(a == 0.0, -infinity, select(a < infinity, l.high, a));
  Two e = product(y, l.high);
  e.low = fma(y, l.low, e.low);
  e.low = select(abs(e.high) < 760.0, e.low, 0.0);  // beyond this, it is not a number
  return exp_in_two(e.high, e.low);
}

Real widened(Real x) { return {x.b, x.b->CreateFPExt(x.value, x.type()->getWithNewType(x.b->getDoubleTy()))}; }

Real power_of_float(Real a, Real y) {
  return {a.b, a.b->CreateFPTrunc(exp(widened(y) * log(widened(a))).value, a.type())};
}

}  // namespace

// Special cases of C and IEEE 754; the test lists them one by one.
Real pow(Real x, Real y) {
  Real a = abs(x), half = y * 0.5;
  Real size = x.is_double() ? power_of_double(a, y) : power_of_float(a, y);
  size = select(a == 1.0, 1.0, size);
  Mask whole = round_even(y) == y;
  Mask odd = whole & (round_even(half) != half);
  Real result = copy_sign(size, select(odd, x, a));
  Mask none = (x < x.number(0)) & (a < infinity) & !whole;
  result = select(none | is_nan(x) | is_nan(y), std::numeric_limits<double>::quiet_NaN(), result);
  result = select(y == 1.0, x, result);
  return select((y == 0.0) | (x == 1.0), 1.0, result);
}

}  // namespace tap::backend::maths
