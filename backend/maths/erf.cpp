// erf: 1 - 2^p, with a polynomial for p = log2(1 - erf(x)). Where 2^p is near 1, f64 takes another polynomial, and f32 takes 2^p - 1
// without the 1: one path for all numbers, of half the operations.
#include "backend/maths/exp.h"
#include "backend/maths/functions.h"

namespace tap::backend::maths {
namespace {

// erf(x) = x + x q(x²) up to 0.92, and log(1 - erf(x)) from there on: scripts/minimax.py.
constexpr double erf_f64[] = {0.12837916709551259,    -0.37612638903184098,   0.11283791670972532,
                              -2.6866170648711746e-2, 5.2239776641470744e-3,  -8.5483295148782129e-4,
                              1.2055435250936664e-4,  -1.4928425186850048e-5, 1.6512479901983751e-6,
                              -1.6970593997948925e-7, 1.9410420714316938e-8,  -3.2315162321580621e-9,
                              4.6414714378855377e-10};
constexpr double erfc_f64[] = {
    2.075908300737391e-9,  -1.1283792254897285,     -0.63661923265252851,   -0.10277533792204732,
    1.9137529964916761e-2, 1.8758555679649464e-4,   -1.6574430610312183e-3, 5.3598784746688446e-4,
    3.4192970644767796e-5, -1.1806886505060654e-4,  6.827454381363169e-5,   -2.5646924779442292e-5,
    7.211153215121544e-6,  -1.5759300112130607e-6,  2.6887212175388073e-7,  -3.5297482343633362e-8,
    3.4515055524259512e-9, -2.3696449717149954e-10, 1.019271239273573e-11,  -2.0660952483912712e-13};

// log2(1 - erf(x)) = x q(x), up to 4, and 2^f - 1 = f q(f), |f| <= 1/2. The greatest term is added last and rounds once; the first
// coefficients happen to be nearly exact as floats, 2^-29 of them.
constexpr double log2_erfc_f32[] = {-1.62790704,    -0.918447554,  -0.148277506,   0.027633138, 2.30076766e-4,
                                    -2.40424834e-3, 9.12849966e-4, -1.69758729e-4, 1.3366981e-5};
constexpr double exp2_f32[] = {0.693147182, 0.240226433, 5.55035919e-2, 9.61894635e-3, 1.33911485e-3, 1.52207824e-4};

// a q(a) for the polynomial q, with one rounding of the first term.
Real rounded_once(Real a, Real square, std::span<const double> q) {
  return fma(a, q[0], square * wide_polynomial(a, q.subspan(1)));
}

// With p = n + f and s = 2^n: 1 - s 2^f = (1 - s) - s (2^f - 1). n comes from the low bits, as in exp.
Real erf_of_float(Real x) {
  Real a = at_most(abs(x), 4.0);  // erf is 1 from there on
  Real p = rounded_once(a, a * a, log2_erfc_f32);
  Real shifted = p + (0x1.8p23 + format(x).bias);
  Real f = p - (shifted - (0x1.8p23 + format(x).bias));
  Real s = (shifted.bits() << format(x).mantissa).real();
  Real above = rounded_once(f, f * f, exp2_f32);
  return copy_sign(fma(-s, above, 1.0 - s), x);
}

Real erf_of_double(Real x) {
  Real size = abs(x), z = x * x;
  Real near = fma(size, wide_polynomial(z, erf_f64), size);
  Real a = at_most(size, 6.0);  // erf is 1 from there on
  Real far = 1.0 - exp_of_moderate(wide_polynomial(a, erfc_f64));
  return copy_sign(select(size < 0.92, near, far), x);
}

}  // namespace

Real erf(Real x) { return x.is_double() ? erf_of_double(x) : erf_of_float(x); }

}  // namespace tap::backend::maths
