// Laws of monoids: those that hold come out proved, those that do not with values that break them.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/graph.h"
#include "tests/frontend/law_verdicts.h"

namespace tap {
namespace {

using namespace testing;
using ir::CellOp;
using ir::Law;

TEST(Laws, SumsAndMaximaOfFloats) {
  MonoidBuilder sum({f32}), maximum({f32});
  sum.identity({sum.f(0)});
  sum.combine({sum.a(0) + sum.b(0)});
  expect_proved(check(sum));
  maximum.identity({maximum.f(-inf)});
  maximum.combine({max(maximum.a(0), maximum.b(0))});
  expect_proved(check(maximum));
}

TEST(Laws, IntegerSumsProductsAndMinima) {
  for (ElementType type : {i8, u8, i64}) {
    MonoidBuilder sum({type}), product({type}), minimum({type});
    sum.identity({sum.i(0, type)});
    sum.combine({sum.a(0) + sum.b(0)});
    expect_proved(check(sum));
    product.identity({product.i(1, type)});
    product.combine({product.a(0) * product.b(0)});
    expect_proved(check(product));
    minimum.identity({minimum.i(greatest_integer(type), type)});
    minimum.combine({min(minimum.a(0), minimum.b(0))});
    expect_proved(check(minimum));
  }
}

TEST(Laws, ArgmaxWithTies) {
  MonoidBuilder m({f32, i64});
  m.identity({m.f(-inf), m.i(greatest_integer(i64))});
  Cell later = either(m.b(0) > m.a(0), both(m.b(0) == m.a(0), m.b(1) < m.a(1)));
  m.combine({choose(later, m.b(0), m.a(0)), choose(later, m.b(1), m.a(1))});
  expect_proved(check(m));
}

TEST(Laws, ArgmaxThatTakesTheFirstIsNotCommutative) {
  MonoidBuilder m({f32, i64});
  m.identity({m.f(-inf), m.i(greatest_integer(i64))});
  Cell later = m.b(0) > m.a(0);
  m.combine({choose(later, m.b(0), m.a(0)), choose(later, m.b(1), m.a(1))});
  LawVerdict v = check(m);
  EXPECT_EQ(v.laws.associative, Law::proved);
  EXPECT_EQ(v.laws.commutative, Law::broken);
}

// The running state of a softmax-weighted sum, as in the language's description.
void online(MonoidBuilder& m, bool right_fold, ir::MonoidId sum, ir::MonoidId maximum) {
  m.identity({m.f(-inf), m.f(0), m.f(0)});
  Cell top = max(m.a(0), m.b(0));
  Cell p = choose(m.a(0) == top, m.f(1), exp(m.a(0) - top)), q = choose(m.b(0) == top, m.f(1), exp(m.b(0) - top));
  m.combine({top, m.a(1) * p + m.b(1) * q, m.a(2) * p + m.b(2) * q});
  Cell most = m.reduce(maximum, m.x(0));
  Cell e = choose(m.x(0) == most, m.fold_f(1), exp(m.x(0) - most));
  if (!right_fold) e = exp(m.x(0)) * m.fold_f(1);
  m.fold_to({most, m.reduce(sum, e * m.x(1)), m.reduce(sum, e * m.x(2))});
}
ir::Program with_builtins() {
  ir::Program program;
  program.monoids = {*ir::builtin_monoid("sum", f32), *ir::builtin_monoid("max", f32)};
  return program;
}

TEST(Laws, OnlineSoftmaxAndItsFold) {
  MonoidBuilder m({f32, f32, f32});
  online(m, true, ir::MonoidId(0), ir::MonoidId(1));
  expect_proved(check(m, with_builtins()), Law::proved);
}

TEST(Laws, FoldThatIsNotAHomomorphismIsRefuted) {
  MonoidBuilder m({f32, f32, f32});
  online(m, false, ir::MonoidId(0), ir::MonoidId(1));
  LawVerdict v = check(m, with_builtins());
  EXPECT_EQ(v.laws.fold, Law::broken);
  expect_broken(v, "fold");
}

// Three ways to write the guard of Welford's (n, mean, m2).
void welford(MonoidBuilder& m, int guard) {
  Cell zero = m.f(0);
  m.identity({zero, zero, zero});
  Cell n = m.a(0) + m.b(0), d = m.b(1) - m.a(1);
  Cell mean = (m.a(0) * m.a(1) + m.b(0) * m.b(1)) / n;
  Cell m2 = m.a(2) + m.b(2) + d * d * m.a(0) * m.b(0) / n;
  auto guarded = [&](Cell value, Cell a, Cell b) {
    if (guard == 0) return choose(n == zero, zero, value);
    if (guard == 1) return choose(m.a(0) == zero, b, choose(m.b(0) == zero, a, value));
    return value;
  };
  m.combine({n, guarded(mean, m.a(1), m.b(1)), guarded(m2, m.a(2), m.b(2))});
}

// For (n, mean, m2) = (0, 5, 3) and for n = 1 and n = -1 the laws fail; the guard says that no element is such a state.
TEST(Laws, WelfordGuardedByCountsIsAssumed) {
  for (int guard : {0, 1}) {
    MonoidBuilder m({f32, f32, f32});
    welford(m, guard);
    expect_laws(check(m), Law::assumed, Law::assumed, Law::assumed);
  }
}

TEST(Laws, WelfordForAllNumbers) {  // as in the library
  MonoidBuilder m({f32, f32, f32});
  Cell zero = m.f(0), n = m.a(0) + m.b(0), d = m.b(1) - m.a(1), w = m.b(0) / n;
  Cell has_a = m.a(0) > zero, has_b = m.b(0) > zero;
  m.identity({zero, zero, zero});
  auto guarded = [&](Cell value, std::uint32_t k, Cell sum) {
    return choose(both(has_a, has_b), value, choose(has_a, m.a(k), choose(has_b, m.b(k), sum)));
  };
  m.combine({guarded(n, 0, n), guarded(m.a(1) + d * w, 1, m.a(1) + m.b(1)),
             guarded(m.a(2) + m.b(2) + d * (d * (m.a(0) * w)), 2, m.a(2) + m.b(2))});
  expect_proved(check(m));
}

TEST(Laws, UnguardedWelfordFailsOnEmptyStates) {  // 0 / 0 of nothing, and of counts that cancel
  MonoidBuilder m({f32, f32, f32});
  welford(m, 2);
  LawVerdict v = check(m);
  expect_broken(v, "identity");
  expect_broken(v, "associative");
}

TEST(Laws, MeanWithWrongWeightIsRefuted) {
  MonoidBuilder m({f32, f32});
  Cell zero = m.f(0), n = m.a(0) + m.b(0);
  m.identity({zero, zero});
  m.combine({n, choose(m.a(0) == zero, m.b(1), choose(m.b(0) == zero, m.a(1), (m.a(1) + m.b(1)) / m.f(2)))});
  expect_broken(check(m), "associative");
}

TEST(Laws, MeanWithIntegerCount) {
  MonoidBuilder m({i64, f64});
  Cell zero = m.i(0), n = m.a(0) + m.b(0);
  m.identity({zero, m.f(0, f64)});
  Cell mean = (cast(f64, m.a(0)) * m.a(1) + cast(f64, m.b(0)) * m.b(1)) / cast(f64, n);
  m.combine({n, choose(n == zero, m.f(0, f64), mean)});
  LawVerdict v = check(m);
  EXPECT_TRUE(v.broken.empty());
  EXPECT_NE(v.laws.associative, Law::broken);
}

TEST(Laws, AffineCompositionIsNotCommutative) {  // trap 18
  MonoidBuilder m({f32, f32});
  m.identity({m.f(1), m.f(0)});
  m.combine({m.a(0) * m.b(0), m.a(1) * m.b(0) + m.b(1)});
  LawVerdict v = check(m);
  expect_laws(v, Law::proved, Law::proved, Law::broken);
  EXPECT_TRUE(v.broken.empty());
}

TEST(Laws, ComplexProduct) {
  MonoidBuilder m({f32, f32});
  m.identity({m.f(1), m.f(0)});
  m.combine({m.a(0) * m.b(0) - m.a(1) * m.b(1), m.a(0) * m.b(1) + m.a(1) * m.b(0)});
  expect_proved(check(m));
}

TEST(Laws, QuaternionProduct) {
  MonoidBuilder m({f32, f32, f32, f32});
  m.identity({m.f(1), m.f(0), m.f(0), m.f(0)});
  auto a = [&](int k) { return m.a(static_cast<std::uint32_t>(k)); };
  auto b = [&](int k) { return m.b(static_cast<std::uint32_t>(k)); };
  m.combine(
      {a(0) * b(0) - a(1) * b(1) - a(2) * b(2) - a(3) * b(3), a(0) * b(1) + a(1) * b(0) + a(2) * b(3) - a(3) * b(2),
       a(0) * b(2) - a(1) * b(3) + a(2) * b(0) + a(3) * b(1), a(0) * b(3) + a(1) * b(2) - a(2) * b(1) + a(3) * b(0)});
  expect_laws(check(m), Law::proved, Law::proved, Law::broken);
}

TEST(Laws, MatrixProduct) {
  for (ElementType type : {f32, i32}) {
    MonoidBuilder m({type, type, type, type});
    Cell one = is_float(type) ? m.f(1) : m.i(1, type), zero = is_float(type) ? m.f(0) : m.i(0, type);
    m.identity({one, zero, zero, one});
    std::vector<Cell> product;
    for (std::uint32_t i : {0, 1}) {
      for (std::uint32_t j : {0, 1}) product.push_back(m.a(2 * i) * m.b(j) + m.a(2 * i + 1) * m.b(2 + j));
    }
    m.combine(product);
    expect_laws(check(m), Law::proved, Law::proved, Law::broken);
  }
}

TEST(Laws, LogSumExp) {
  MonoidBuilder m({f32});
  m.identity({m.f(-inf)});
  Cell top = max(m.a(0), m.b(0));
  Cell sum = exp(m.a(0) - top) + exp(m.b(0) - top);
  m.combine({choose(top == m.f(-inf), m.f(-inf), top + function(CellOp::log, sum))});
  LawVerdict v = check(m);
  EXPECT_TRUE(v.broken.empty());
  expect_proved(v);
}

// The domain of the logarithm: of [-3, -3, 5] one side is NaN, the other a number.
TEST(Laws, LogSumExpMinusOneLeavesTheDomainOfTheLogarithm) {
  MonoidBuilder m({f64});
  m.identity({m.f(0, f64)});
  m.combine({function(CellOp::log, exp(m.a(0)) + exp(m.b(0)) - m.f(1, f64))});
  LawVerdict v = check(m);
  expect_broken(v, "associative");
  EXPECT_EQ(v.laws.identity, Law::assumed);
  EXPECT_EQ(v.assumed.at(0).why, "an exponential may overflow");
}

TEST(Laws, UnguardedLogSumExpFailsOnEmptyStates) {
  MonoidBuilder m({f32});
  m.identity({m.f(-inf)});
  Cell top = max(m.a(0), m.b(0));
  m.combine({top + function(CellOp::log, exp(m.a(0) - top) + exp(m.b(0) - top))});
  expect_broken(check(m), "identity");
}

TEST(Laws, LexicographicMaximum) {
  MonoidBuilder m({f32, f32});
  m.identity({m.f(-inf), m.f(-inf)});
  Cell first = either(m.a(0) > m.b(0), both(m.a(0) == m.b(0), m.a(1) > m.b(1)));
  m.combine({choose(first, m.a(0), m.b(0)), choose(first, m.a(1), m.b(1))});
  expect_proved(check(m));
}

TEST(Laws, Hypotenuse) {  // hypot: over all reals 0 is no identity, for -1 becomes 1
  MonoidBuilder m({f32});
  m.identity({m.f(0)});
  m.combine({function(CellOp::sqrt, m.a(0) * m.a(0) + m.b(0) * m.b(0))});
  LawVerdict v = check(m);
  expect_broken(v, "identity");
  EXPECT_EQ(v.laws.associative, Law::assumed);  // the squares may overflow where the length does not
  EXPECT_EQ(v.laws.commutative, Law::proved);
}

TEST(Laws, FirstPresentValue) {  // of (false, 5) before nothing, (false, 0) is left
  MonoidBuilder m({boolean, f32});
  m.identity({m.truth(false), m.f(0)});
  m.combine({either(m.a(0), m.b(0)), choose(m.a(0), m.a(1), m.b(1))});
  LawVerdict v = check(m);
  expect_laws(v, Law::assumed, Law::proved, Law::broken);
}

TEST(Laws, SegmentedSum) {
  MonoidBuilder m({boolean, f32});
  m.identity({m.truth(false), m.f(0)});
  m.combine({either(m.a(0), m.b(0)), choose(m.b(0), m.b(1), m.a(1) + m.b(1))});
  expect_laws(check(m), Law::proved, Law::proved, Law::broken);
}

TEST(Laws, ReversedSegmentedSumIsRefuted) {
  MonoidBuilder m({boolean, f32});
  m.identity({m.truth(false), m.f(0)});
  m.combine({either(m.a(0), m.b(0)), choose(m.b(0), m.a(1), m.a(1) + m.b(1))});
  EXPECT_FALSE(check(m).broken.empty());
}

// ---- C01, C02: refuted with values.

}  // namespace
}  // namespace tap
