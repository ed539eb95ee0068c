// Monoids of tuples, by hand: what a user's own monoids are like. Each in any element type.
#pragma once

#include "tests/ir/build.h"

namespace tap::ir::test {

// The recurrence h <- a*h + b as the composition of affine functions; it does not commute (trap 18).
//   combine (f, g) = (f.a * g.a, f.b * g.a + g.b)
inline Monoid affine_composition(ElementType type) {
  Monoid m;
  m.name = "affine";
  m.components = {{"a", type}, {"b", type}};
  CellExprs& e = m.exprs;
  CellId fa = e.argument(0, type), fb = e.argument(1, type), ga = e.argument(2, type), gb = e.argument(3, type);
  m.identity = {e.constant(Scalar::one(type)), e.constant(Scalar::zero(type))};
  m.combine = {e.apply(CellOp::mul, type, {fa, ga}),
               e.apply(CellOp::add, type, {e.apply(CellOp::mul, type, {fb, ga}), gb})};
  m.laws = {Law::proved, Law::proved, Law::broken, Law::unknown};
  return m;
}

// combine (a, b) = if a.v < b.v or (b.v == a.v and b.at < a.at) then b else a
inline Monoid argmax(ElementType type) {
  Monoid m;
  m.name = "argmax";
  m.components = {{"v", type}, {"at", i64}};
  CellExprs& e = m.exprs;
  CellId av = e.argument(0, type), aa = e.argument(1, i64), bv = e.argument(2, type), ba = e.argument(3, i64);
  m.identity = {e.constant(Scalar::least(type)), e.constant(Scalar::greatest(i64))};
  CellId tie = e.apply(CellOp::logical_and, boolean,
                       {e.apply(CellOp::equal, boolean, {bv, av}), e.apply(CellOp::less, boolean, {ba, aa})});
  CellId later = e.apply(CellOp::logical_or, boolean, {e.apply(CellOp::less, boolean, {av, bv}), tie});
  m.combine = {e.apply(CellOp::select, type, {later, bv, av}), e.apply(CellOp::select, i64, {later, ba, aa})};
  return m;
}

// The running state of sums weighted by a softmax: the maximum, and `sums` sums scaled to it. The maximum needs fewer
// indices than a sum.
inline Monoid online_softmax(ElementType type, std::uint32_t sums) {
  Monoid m;
  m.name = "online";
  CellExprs& e = m.exprs;
  CellId am = e.argument(0, type), bm = e.argument(sums + 1, type);
  CellId max = e.apply(CellOp::max, type, {am, bm}), one = e.constant(Scalar::one(type));
  auto weight = [&](CellId m0) {
    CellId power = e.apply(CellOp::exp, type, {e.apply(CellOp::sub, type, {m0, max})});
    return e.apply(CellOp::select, type, {e.apply(CellOp::equal, boolean, {m0, max}), one, power});
  };
  CellId p = weight(am), q = weight(bm);
  m.components = {{"m", type}};
  m.identity = {e.constant(Scalar::least(type))};
  m.combine = {max};
  for (std::uint32_t k = 1; k <= sums; ++k) {
    CellId a = e.argument(k, type), b = e.argument(sums + 1 + k, type);
    m.components.push_back({"s" + std::to_string(k), type});
    m.identity.push_back(e.constant(Scalar::zero(type)));
    m.combine.push_back(
        e.apply(CellOp::add, type, {e.apply(CellOp::mul, type, {a, p}), e.apply(CellOp::mul, type, {b, q})}));
  }
  return m;
}

}  // namespace tap::ir::test
