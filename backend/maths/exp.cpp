// exp and expm1: x = n ln 2 + r, a polynomial on |r| <= ln(2)/2, and 2^n from bits. n is taken from the low bits of x
// / ln 2 + 1.5·2^mantissa, whose addition rounds to an integer.
#include "backend/maths/exp.h"

#include "backend/maths/functions.h"

namespace tap::backend::maths {
namespace {

constexpr double log2_e = 1.4426950408889634;
// exp(r) = 1 + r + r² q(r): scripts/minimax.py. For float exp needs less than exp(r) - 1.
constexpr double exp_f32[] = {0.5, 0.166665182, 4.16664816e-2, 8.36897921e-3, 1.39306381e-3};
constexpr double expm1_f32[] = {0.5, 0.166666672, 4.16664816e-2, 8.333195e-3, 1.39333843e-3, 1.99525151e-4};
constexpr double exp_f64[] = {0.5,
                              0.16666666666666677,
                              4.1666666666666678e-2,
                              8.3333333333214001e-3,
                              1.3888888888878266e-3,
                              1.9841269886755193e-4,
                              2.4801587337077938e-5,
                              2.7557243534494368e-6,
                              2.7557263852600366e-7,
                              2.5109285396967346e-8,
                              2.0917616941013845e-9};

std::span<const double> pick(Real x, std::span<const double> if_float) {
  return x.is_double() ? std::span<const double>(exp_f64) : if_float;
}

}  // namespace

ExpArgument reduce_exp(Real x) {
  Format f = format(x);
  double shift = 1.5 * static_cast<double>(std::int64_t{1} << f.mantissa) + 2 * f.bias;
  Real shifted = fma(x, log2_e, shift);
  Real n = shifted - shift;
  // ln 2 in two parts. The first step is exact: what is left has no lower bits than the product.
  Real first = fma(n, x.number(-0x1.62e430p-1, -0x1.62e42fefa39efp-1), x);
  Real rest = x.number(0x1.05c610p-29, -0x1.abc9e3b39803fp-56);
  Real r = fma(n, rest, first);
  return {r, fma(n, rest, first - r), n, shifted.bits()};
}

Halves power_of_two(const ExpArgument& a) {
  int mantissa = format(a.r).mantissa;
  Bits low = a.shifted >> 1;
  return {(low << mantissa).real(), ((a.shifted - low) << mantissa).real()};
}

Real normal_power_of_two(const ExpArgument& a) {
  Format f = format(a.r);
  return ((a.shifted - f.bias) << f.mantissa).real();
}

Real exp_above_line(const ExpArgument& a) { return fma(a.r * a.r, polynomial(a.r, pick(a.r, expm1_f32)), a.lost); }

namespace {

Real exp_of_reduced(Real r) { return fma(r * r, polynomial(r, pick(r, exp_f32)), r) + 1.0; }

Real exp_of_clamped(Real x) {
  ExpArgument a = reduce_exp(x);
  Halves scale = power_of_two(a);
  return exp_of_reduced(a.r) * scale.low * scale.high;  // only the last product can round
}

// Outside this range exp overflows, or is less than half of the least subnormal.
Real below_overflow(Real x) { return at_most(x, x.is_double() ? 709.8 : 88.8); }
Real above_underflow(Real x) { return at_least(x, x.is_double() ? -745.2 : -104.0); }

}  // namespace

Real exp(Real x) { return exp_of_clamped(above_underflow(below_overflow(x))); }
Real exp_of_moderate(Real x) {
  ExpArgument a = reduce_exp(x);
  return exp_of_reduced(a.r) * normal_power_of_two(a);
}
Real exp_of_negative(Real x) { return exp_of_clamped(above_underflow(x)); }

Real exp_in_two(Real high, Real low) {
  ExpArgument a = reduce_exp(above_underflow(below_overflow(high)));
  Real more = a.lost + low;
  Real r = a.r + more;
  Real lost = more - (r - a.r);
  Halves scale = power_of_two(a);
  Real e = (r + fma(r * r, polynomial(r, pick(r, expm1_f32)), lost)) + 1.0;
  return e * scale.low * scale.high;
}

// 2^n (exp(r) - 1) + (2^n - 1), at half the size: 2^n itself may overflow although the result does not. Adds the
// greatest terms first, since their sum is exact or nearly so.
Real expm1(Real x) {
  Format f = format(x);
  ExpArgument a = reduce_exp(at_least(below_overflow(x), x.is_double() ? -38.0 : -18.0));
  Real half = ((a.shifted - (f.bias + 1)) << f.mantissa).real();
  Real e = fma(half, exp_above_line(a), fma(half, a.r, half - 0.5)) * 2.0;
  return select(abs(x) < x.number(0x1p-26, 0x1p-55), x, e);  // and -0, and subnormals
}

}  // namespace tap::backend::maths
