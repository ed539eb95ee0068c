// sin, cos and tan: x = n π/2 + r, polynomials in r; the quadrant n mod 4 selects the polynomial and the sign.
#include "backend/maths/trig.h"

#include <llvm/IR/MDBuilder.h>

#include <limits>

#include "backend/maths/functions.h"

namespace tap::backend::maths {
namespace {

// sin(r) = r + r z q(z), cos(r) = 1 - z/2 + z² q(z) and tan(r) = r + r z q(z), z = r²: scripts/minimax.py.
constexpr double sin_f32[] = {-0.166666672, 8.33337847e-3, -1.98525653e-4, 2.8264526e-6};
constexpr double sin_f64[] = {-0.16666666666666666,   8.3333333333330505e-3,  -1.9841269840978635e-4,
                              2.7557319084625044e-6,  -2.5052074130972968e-8, 1.6054763496045833e-10,
                              -7.4135854484093455e-13};
constexpr double cos_f32[] = {4.16666456e-2, -1.38873025e-3, 2.44309304e-5};
constexpr double cos_f64[] = {4.1666666666666588e-2, -1.388888888887216e-3, 2.4801587288257856e-5,
                              -2.755731399766458e-7, 2.0875674825888938e-9, -1.1357124639479207e-11};
constexpr double tan_f32[] = {0.333331108, 0.133399203, 5.33224531e-2, 2.47365255e-2, 2.64199753e-3, 9.66168474e-3};
constexpr double tan_f64[] = {0.33333333333333404,   0.13333333333321937,    5.3968253974721499e-2,
                              2.1869488350425806e-2, 8.8632386997393141e-3,  3.5920928981539261e-3,
                              1.4561013755200873e-3, 5.8859006184537556e-4,  2.4471657292431565e-4,
                              8.1119385037490261e-5, 7.1613553694211866e-5,  -3.1129023708699439e-5,
                              5.317683635668735e-5,  -2.6501320372921791e-5, 1.0290104356785571e-5};

// π/2 in three parts: the first product leaves no lower bits than x has, so the first difference is exact.
QuarterTurns reduce_moderate(Real x) {
  double shift = x.is_double() ? 0x1.8p52 : 0x1.8p23;
  Real shifted = fma(x, 0x1.45f306dc9c883p-1, shift);
  Real n = shifted - shift;
  Real second = x.number(0x1.777a5cp-25, -0x1.1a62633145c07p-54);
  Real first = fma(n, x.number(-0x1.921fb6p+0, -0x1.921fb54442d18p+0), x);
  Real product = n * second, near = first + product;
  Real lost = ((first - near) + product) + fma(n, second, -product);
  Real rest = fma(n, x.number(0x1.ee59dap-50, 0x1.f1976b7ed8fbcp-110), lost);
  Real r = near + rest;
  return {r, rest - (r - near), shifted.bits()};
}

Real sine(const QuarterTurns& a, Real z) {
  Real q = a.r.is_double() ? polynomial(z, sin_f64) : polynomial(z, sin_f32);
  return a.r + fma(a.r * z, q, a.lost * fma(z, -0.5, 1.0));
}

Real cosine(const QuarterTurns& a, Real z) {
  Real q = a.r.is_double() ? polynomial(z, cos_f64) : polynomial(z, cos_f32);
  Real half = z * 0.5, near = 1.0 - half;
  return near + (((1.0 - near) - half) + fma(z * z, q, -(a.r * a.lost)));
}

// Sine in even quadrants and cosine in odd ones, negative in the third and fourth.
Real by_quadrant(const QuarterTurns& a, Bits quadrant) {
  int width = a.r.is_double() ? 64 : 32;
  Real z = a.r * a.r;
  Real size = select((quadrant & 1) == 0, sine(a, z), cosine(a, z));
  Bits sign = ((quadrant >> 1) << (width - 1));
  return (size.bits() ^ sign).real();
}

// sin and tan of a tiny x: x itself, with its sign.
Real unless_tiny(Real x, Real y) { return select(abs(x) < x.number(0x1p-13, 0x1p-27), x, y); }

llvm::Value* any(Mask m) { return m.value->getType()->isVectorTy() ? m.b->CreateOrReduce(m.value) : m.value; }

}  // namespace

QuarterTurns reduce_turns(Real x) {
  auto& b = *x.b;
  QuarterTurns moderate = reduce_moderate(x);
  Real size = abs(x);
  Mask is_huge = (size > x.number(0x1p16, 0x1p30)) & (size < std::numeric_limits<double>::infinity());
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* rare = llvm::BasicBlock::Create(b.getContext(), "huge", function);
  auto* join = llvm::BasicBlock::Create(b.getContext(), "reduced", function);
  b.CreateCondBr(any(is_huge), rare, join, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(rare);
  QuarterTurns huge = reduce_huge(select(is_huge, x, 0x1p30));
  huge = {select(is_huge, huge.r, moderate.r), select(is_huge, huge.lost, moderate.lost),
          select(is_huge, huge.quadrant, moderate.quadrant)};
  llvm::BasicBlock* end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(join);
  auto either = [&](llvm::Value* usual, llvm::Value* other) {
    auto* phi = b.CreatePHI(usual->getType(), 2);
    phi->addIncoming(usual, before);
    phi->addIncoming(other, end);
    return phi;
  };
  return {{&b, either(moderate.r.value, huge.r.value)},
          {&b, either(moderate.lost.value, huge.lost.value)},
          {&b, either(moderate.quadrant.value, huge.quadrant.value)}};
}

Real sin(Real x) {
  QuarterTurns a = reduce_turns(x);
  return unless_tiny(x, by_quadrant(a, a.quadrant));
}

Real cos(Real x) {
  QuarterTurns a = reduce_turns(x);
  return by_quadrant(a, a.quadrant + 1);
}

// tan r in two parts, and in odd quadrants -1 / tan r by one step of Newton's from the quotient.
Real tan(Real x) {
  QuarterTurns a = reduce_turns(x);
  Real z = a.r * a.r;
  Real q = x.is_double() ? wide_polynomial(z, tan_f64) : polynomial(z, tan_f32);
  Real above = fma(a.r * z, q, a.lost * (z + 1.0));
  Real t = a.r + above;
  Real low = above - (t - a.r);
  Real inverse = -1.0 / t;
  Real error = fma(inverse, low, fma(inverse, t, 1.0));
  return unless_tiny(x, select((a.quadrant & 1) == 0, t, fma(inverse, error, inverse)));
}

}  // namespace tap::backend::maths
