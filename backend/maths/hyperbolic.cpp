// tanh, sigmoid, sinh and cosh: what exp(r) - 1 gives.
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

}  // namespace

// Small x: a polynomial. Others: 1 - 2 e / (1 + e) with e = exp(-2|x|). Odd to the bit.
Real tanh(Real x) {
  Real a = abs(x), z = x * x;
  Real q = x.is_double() ? wide_polynomial(z, tanh_f64) : polynomial(z, tanh_f32);
  Real e = exp_of_moderate(at_most(a, x.is_double() ? 20.0 : 10.0) * -2.0);
  Real large = 1.0 - e * 2.0 / (e + 1.0);
  return copy_sign(select(a < 0.55, fma(a * z, q, a), large), x);
}

// With e = exp(-|x|), which never overflows: 1 - q for x >= 0 and e - e q for others, q = e / (1 + e).
Real sigmoid(Real x) {
  Real e = exp_of_negative(-abs(x));
  Real whole = select(x >= 0.0, 1.0, e);
  return fma(-(e / (e + 1.0)), whole, whole);
}

}  // namespace tap::backend::maths
