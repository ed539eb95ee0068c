// tanh, sigmoid, sinh and cosh, based on exp(r) - 1.
#include "backend/maths/exp.h"
#include "backend/maths/functions.h"

namespace tap::backend::maths {

namespace {

// tanh(x) = x + x z q(z), z = x²: scripts/minimax.py.
constexpr double tanh_f32[] = {-0.333333194, 0.133326381, -5.38570881e-2, 2.10895017e-2, -6.29757531e-3};
constexpr double tanh_f64[] = {-0.33333333333333331,   0.13333333333332953,    -5.3968253967975402e-2,
                               2.1869488525747677e-2,  -8.8632352989435597e-3, 3.5921247370426707e-3,
                               -1.4558026368447123e-3, 5.8981680863010326e-4,  -2.3815965720752662e-4,
                               9.3850927368602989e-5,  -3.2822730148060514e-5, 7.3714447305125004e-6};

// sinh(r) = r + r z q(z), cosh(r) = 1 + z q(z), |r| <= ln(2)/2.
constexpr double sinh_f32[] = {0.166666672, 8.33317824e-3, 1.99711896e-4};
constexpr double sinh_f64[] = {0.16666666666666666,   8.3333333333343966e-3, 1.9841269837283598e-4,
                               2.7557325772144629e-6, 2.5047202247662151e-8, 1.7441104618696132e-10};
constexpr double cosh_f32[] = {0.5, 4.16664593e-2, 1.39354239e-3};
constexpr double cosh_f64[] = {0.5,
                               4.1666666666666664e-2,
                               1.3888888888890815e-3,
                               2.4801587295770923e-5,
                               2.7557327393844679e-7,
                               2.0871326537825927e-9,
                               1.2858583402625909e-11};

// With x = n ln 2 + r: sinh and cosh of n ln 2, which are sums of powers of two, and of r. The former are halved, so
// that they do not overflow before the result.
struct Hyperbolic {
  Real sinh_n, sinh_lost, cosh_n, cosh_lost;  // rounded, and their rounding errors
  Real sinh_r, cosh_r_minus_one;
};

// Pre: x >= 0, or nan.
Hyperbolic reduce_hyperbolic(Real x) {
  Format f = format(x);
  ExpArgument a = reduce_exp(at_most(x, x.is_double() ? 710.6 : 89.5));
  Real up = ((a.shifted - (f.bias + 2)) << f.mantissa).real();  // 2^(n - 2)
  Bits down_exponent = a.n.number(0).bits() - a.shifted + (3 * f.bias - 2);
  Real down = select(a.n < (f.mantissa + 8), (down_exponent << f.mantissa).real(), 0.0);  // 2^(-n - 2)
  Real z = a.r * a.r;
  Real s = x.is_double() ? polynomial(z, sinh_f64) : polynomial(z, sinh_f32);
  Real c = x.is_double() ? polynomial(z, cosh_f64) : polynomial(z, cosh_f32);
  Real sinh_n = up - down, cosh_n = up + down;
  return {sinh_n,
          (up - sinh_n) - down,
          cosh_n,
          down - (cosh_n - up),
          a.r + fma(a.r * z, s, a.lost),
          fma(z, c, a.r * a.lost)};
}

}  // namespace

// Small x: a polynomial. Others: 1 - 2 e / (1 + e) with e = exp(-2|x|). Exactly odd.
Real tanh(Real x) {
  Real a = abs(x), z = x * x;
  Real q = x.is_double() ? wide_polynomial(z, tanh_f64) : polynomial(z, tanh_f32);
  Real e = exp_of_moderate(at_most(a, x.is_double() ? 20.0 : 10.0) * -2.0);
  Real large = 1.0 - e * 2.0 / (e + 1.0);
  return copy_sign(select(a < 0.55, fma(a * z, q, a), large), x);
}

// sinh(n ln 2) cosh(r) + cosh(n ln 2) sinh(r)
Real sinh(Real x) {
  Hyperbolic h = reduce_hyperbolic(abs(x));
  Real size = (h.sinh_n + fma(h.cosh_n, h.sinh_r, fma(h.sinh_n, h.cosh_r_minus_one, h.sinh_lost))) * 2.0;
  return select(abs(x) < x.number(0x1p-13, 0x1p-27), x, copy_sign(size, x));
}

Real cosh(Real x) {
  Hyperbolic h = reduce_hyperbolic(abs(x));
  return (h.cosh_n + fma(h.sinh_n, h.sinh_r, fma(h.cosh_n, h.cosh_r_minus_one, h.cosh_lost))) * 2.0;
}

// With e = exp(-|x|), which never overflows: 1 - q for x >= 0 and e - e q for others, q = e / (1 + e).
Real sigmoid(Real x) {
  Real e = exp_of_negative(-abs(x));
  Real whole = select(x >= 0.0, 1.0, e);
  return fma(-(e / (e + 1.0)), whole, whole);
}

}  // namespace tap::backend::maths
