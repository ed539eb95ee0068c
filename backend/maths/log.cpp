// log and log1p: x = 2^e m with m between sqrt(1/2) and sqrt(2); log(m) by a polynomial in m - 1, which is exact.
#include "backend/maths/log.h"

#include <limits>

#include "backend/maths/functions.h"

namespace tap::backend::maths {
namespace {

// log(1 + f) = f + f² q(f): scripts/minimax.py.
constexpr double log_f32[] = {-0.499999881, 0.333333135,  -0.250016093, 0.200027913,   -0.166090205,
                              0.141659677,  -0.132280841, 0.129998118,  -7.77361393e-2};
constexpr double log_f64[] = {-0.5,
                              0.33333333333333481,
                              -0.24999999999999264,
                              0.19999999999937626,
                              -0.16666666666825275,
                              0.1428571429469282,
                              -0.12499999990828507,
                              0.11111110476952324,
                              -9.9999999357518243e-2,
                              9.0909343386543384e-2,
                              -8.3333587850063312e-2,
                              7.6917106166598082e-2,
                              -7.1417758259161052e-2,
                              6.674971961857e-2,
                              -6.2720157546793859e-2,
                              5.8214572880844188e-2,
                              -5.3159269862659897e-2,
                              5.3870745180526466e-2,
                              -6.2865650832393538e-2,
                              5.7811892606081876e-2,
                              -2.4912344776093973e-2};

// e ln 2 + log(1 + f + low).
Real finish(Real f, Real low, Real e) {
  Real q = f.is_double() ? wide_polynomial(f, log_f64) : polynomial(f, log_f32);
  // ln 2 in two parts, the lesser first.
  Real t = fma(e, f.number(-0x1.05c610p-29, 0x1.abc9e3b39803fp-56), fma(f * f, q, low));
  return fma(e, f.number(0x1.62e430p-1, 0x1.62e42fefa39efp-1), f + t);
}

// Pre: x is a positive normal number.
Parts split(Real x) {
  Format f = format(x);
  std::int64_t root = x.is_double() ? 0x3fe6a09e667f3bcd : 0x3f3504f3;  // the bits of sqrt(1/2), where mantissas begin
  Bits moved = x.bits() + ((std::int64_t{f.bias} << f.mantissa) - root);
  Bits biased = moved >> f.mantissa;
  Bits m = (moved & ((std::int64_t{1} << f.mantissa) - 1)) + root;
  // A small integer added to the bits of 2^mantissa gives the bits of their sum.
  double whole = static_cast<double>(std::int64_t{1} << f.mantissa);
  return {m.real(), (biased + x.number(whole).bits()).real() - (whole + f.bias), biased};
}

// log(x) at the edges, and `inside` elsewhere.
Real with_edges(Real x, Real inside) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Real below = select(x == 0.0, -infinity, x.number(std::numeric_limits<double>::quiet_NaN()));
  return select(x > 0.0, select(x < infinity, inside, x), below);
}

}  // namespace

// Subnormals are made normal first.
Parts split_any(Real x) {
  Mask tiny = x < x.number(0x1p-126, 0x1p-1022);
  Parts p = split(select(tiny, x * x.number(0x1p23, 0x1p52), x));
  p.e = select(tiny, p.e - format(x).mantissa, p.e);
  return p;
}

Real log(Real x) {
  Parts p = split_any(x);
  return with_edges(x, finish(p.m - 1.0, x.number(0), p.e));
}

// The rounding error of 1 + x matters: takes only the exponent from 1 + x, and rounds 2^-e (1 + x) - 1 once, keeping
// the error. 2^-e itself may be subnormal, 2^(2-e) is not.
Real log1p_of(Real x, Real low, Real extra) {
  Format f = format(x);
  Real u = x + 1.0;
  Parts p = split(u);
  Real scale = ((p.biased.number(2 * f.bias + 2) - p.biased) << f.mantissa).real();
  Real quarter = x * 0.25, rest = fma(scale, 0.25, -1.0);
  Real m = fma(scale, quarter, rest);
  Real lost = fma(scale, quarter, rest - m);
  Real inside = finish(m, fma(scale * 0.25, low, lost), p.e + extra);
  return select(abs(x) < x.number(0x1p-26, 0x1p-55), x, with_edges(u, inside));  // and -0, and subnormals
}

Real log1p(Real x) { return log1p_of(x, x.number(0), x.number(0)); }

}  // namespace tap::backend::maths
