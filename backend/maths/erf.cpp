// erf: a polynomial near zero, and 1 - exp(log(1 - erf(x))) elsewhere, with a polynomial for the logarithm.
#include "backend/maths/exp.h"
#include "backend/maths/functions.h"

namespace tap::backend::maths {
namespace {

// erf(x) = x + x q(x²) up to 0.92, and log(1 - erf(x)) from there on: scripts/minimax.py.
constexpr double erf_f32[] = {0.128379166,   -0.376126319,   0.112836786,  -2.6858734e-2,
                              5.19976998e-3, -8.13118764e-4, 8.32964215e-5};
constexpr double erf_f64[] = {0.12837916709551259,    -0.37612638903184098,   0.11283791670972532,
                              -2.6866170648711746e-2, 5.2239776641470744e-3,  -8.5483295148782129e-4,
                              1.2055435250936664e-4,  -1.4928425186850048e-5, 1.6512479901983751e-6,
                              -1.6970593997948925e-7, 1.9410420714316938e-8,  -3.2315162321580621e-9,
                              4.6414714378855377e-10};
constexpr double erfc_f32[] = {1.55847913e-4,  -1.12941003,   -0.63359803,    -0.107942812,  2.48416364e-2,
                               -4.02747281e-3, 3.88996763e-4, -1.30357621e-5, -6.12113183e-7};
constexpr double erfc_f64[] = {
    2.075908300737391e-9,  -1.1283792254897285,     -0.63661923265252851,   -0.10277533792204732,
    1.9137529964916761e-2, 1.8758555679649464e-4,   -1.6574430610312183e-3, 5.3598784746688446e-4,
    3.4192970644767796e-5, -1.1806886505060654e-4,  6.827454381363169e-5,   -2.5646924779442292e-5,
    7.211153215121544e-6,  -1.5759300112130607e-6,  2.6887212175388073e-7,  -3.5297482343633362e-8,
    3.4515055524259512e-9, -2.3696449717149954e-10, 1.019271239273573e-11,  -2.0660952483912712e-13};

}  // namespace

Real erf(Real x) {
  Real size = abs(x), z = x * x;
  Real near = fma(size, x.is_double() ? wide_polynomial(z, erf_f64) : polynomial(z, erf_f32), size);
  Real a = at_most(size, x.is_double() ? 6.0 : 4.0);  // erf is 1 from there on
  Real far = 1.0 - exp_of_moderate(x.is_double() ? wide_polynomial(a, erfc_f64) : polynomial(a, erfc_f32));
  return copy_sign(select(size < 0.92, near, far), x);
}

}  // namespace tap::backend::maths
