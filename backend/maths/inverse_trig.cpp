// atan, asin and acos: odd polynomials near zero, and identities for half angles elsewhere.
#include "backend/maths/functions.h"

namespace tap::backend::maths {
namespace {

// atan(t) = t + t z q(z), z = t², up to 1/2; asin likewise: scripts/minimax.py.
constexpr double atan_f32[] = {-0.333333284, 0.199995562, -0.142731503, 0.109488375, -8.01085085e-2, 3.90688851e-2};
constexpr double atan_f64[] = {-0.33333333333333331,   0.19999999999999379,    -0.14285714285639389,
                               0.11111111106460761,    -9.0909089174901772e-2, 7.6923034628805911e-2,
                               -6.666595637958167e-2,  5.8815049404309684e-2,  -5.2558261111955357e-2,
                               4.7156222661508679e-2,  -4.1347098055728768e-2, 3.2909692539705541e-2,
                               -2.0281189871173146e-2, 6.843613655288126e-3};
constexpr double asin_f32[] = {0.166666597, 7.50051811e-2, 4.45146747e-2, 3.18243392e-2, 1.43829063e-2, 3.75863314e-2};
constexpr double asin_f64[] = {
    0.16666666666666763,   7.4999999999701653e-2,  4.4642857175201112e-2, 3.0381942680017673e-2, 2.2372215759472309e-2,
    1.7351598304168513e-2, 1.398098323944711e-2,   1.1397593694643509e-2, 1.0787575959307544e-2, 3.6789895504528883e-3,
    2.1773595619942208e-2, -2.1091904638414725e-2, 3.2686221113796224e-2};

// A constant in two parts: its value, and its rounding error.
struct Angle {
  Real high, low;
};
Angle quarters_of_pi(Real x, int count) {
  return {x.number(count * 0x1.921fb6p-1, count * 0x1.921fb54442d18p-1),
          x.number(count * -0x1.777a5cp-26, count * 0x1.1a62633145c07p-55)};
}

// asin(s) = s + s z q(z), z = s²: asin(s) - s.
Real asin_above(Real s, Real z) {
  return s * z * (z.is_double() ? wide_polynomial(z, asin_f64) : polynomial(z, asin_f32));
}

// For a > 1/2 asin(a) = π/2 - 2 asin(s) with s² = (1 - a) / 2, which is exact.
struct Half {
  Mask beyond;
  Real s, z;
};
Half halve(Real a) {
  Mask beyond = a > 0.5;
  Real z = select(beyond, fma(a, -0.5, 0.5), a * a);
  return {beyond, select(beyond, sqrt(z), a), z};
}

}  // namespace

// Above 1/2 by (x - 1) / (x + 1), whose numerator is exact, and above 2 by -1 / x.
Real atan(Real x) {
  Real a = abs(x), one = x.number(1), zero = x.number(0);
  Mask middle = a > 0.5, far = a > 2.0;
  Real t = select(far, -one, select(middle, a - 1.0, a)) / select(far, a, select(middle, a + 1.0, one));
  Angle quarter = quarters_of_pi(x, 1), half = quarters_of_pi(x, 2);
  Real z = t * t;
  Real q = x.is_double() ? wide_polynomial(z, atan_f64) : polynomial(z, atan_f32);
  Real low = select(far, half.low, select(middle, quarter.low, zero));
  Real high = select(far, half.high, select(middle, quarter.high, zero));
  return copy_sign(high + (t + fma(t * z, q, low)), x);
}

Real asin(Real x) {
  Real a = abs(x);
  Half h = halve(a);
  Real above = asin_above(h.s, h.z);
  Angle right = quarters_of_pi(x, 2);
  Real far = right.high - fma(h.s, 2.0, fma(above, 2.0, -right.low));
  return copy_sign(select(h.beyond, far, h.s + above), x);
}

Real acos(Real x) {
  Real a = abs(x);
  Half h = halve(a);
  Real above = asin_above(h.s, h.z);
  Angle right = quarters_of_pi(x, 2), straight = quarters_of_pi(x, 4);
  Real positive = (h.s + above) * 2.0;
  Real negative = straight.high - fma(h.s, 2.0, fma(above, 2.0, -straight.low));
  Real near = right.high - (x + (copy_sign(above, x) - right.low));
  return select(h.beyond, select(x > 0.0, positive, negative), near);
}

}  // namespace tap::backend::maths
