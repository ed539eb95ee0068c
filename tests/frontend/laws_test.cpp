// Laws of monoids: those that hold come out proved, those that do not with values that break them.
#include "compiler/frontend/proofs/laws.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "tests/frontend/build_monoid.h"

namespace tap {
namespace {

using namespace testing;
using ir::CellOp;
using ir::Law;
constexpr ElementType f32 = ElementType::f32, f64 = ElementType::f64, i64 = ElementType::i64, i32 = ElementType::i32,
                      i8 = ElementType::i8, u8 = ElementType::u8, boolean = ElementType::boolean;

LawVerdict check(const MonoidBuilder& m, const ir::Program& program = {}, LawOptions options = {}) {
  auto begin = std::chrono::steady_clock::now();
  LawVerdict verdict = check_laws(program, m.build(), options);
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const char* test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  printf("%-40s %8.1f ms", test, ms);
  for (const LawDoubt& doubt : verdict.assumed) printf("  [%s assumed: %s]", doubt.law.c_str(), doubt.why.c_str());
  printf("\n");
  return verdict;
}
void expect_laws(const LawVerdict& v, Law identity, Law associative, Law commutative, Law fold = Law::unknown) {
  EXPECT_EQ(v.laws.identity, identity);
  EXPECT_EQ(v.laws.associative, associative);
  EXPECT_EQ(v.laws.commutative, commutative);
  EXPECT_EQ(v.laws.fold, fold);
}
void expect_proved(const LawVerdict& v, Law fold = Law::unknown) {
  expect_laws(v, Law::proved, Law::proved, Law::proved, fold);
  EXPECT_TRUE(v.broken.empty());
}
// The one law that is broken, with values for which the two sides differ.
void expect_broken(const LawVerdict& v, const std::string& law) {
  auto it = std::find_if(v.broken.begin(), v.broken.end(), [&](const LawCounterexample& c) { return c.law == law; });
  ASSERT_NE(it, v.broken.end()) << law << " is not refuted";
  EXPECT_FALSE(it->values.empty());
  EXPECT_FALSE(it->left == it->right);
}

TEST(Laws, SumsAndMaximaOfFloats) {
  MonoidBuilder sum({f32}), maximum({f32});
  sum.identity({sum.f(0)});
  sum.combine({sum.a(0) + sum.b(0)});
  expect_proved(check(sum));
  maximum.identity({maximum.f(-inf)});
  maximum.combine({max(maximum.a(0), maximum.b(0))});
  expect_proved(check(maximum));
}

TEST(Laws, SumsAndMinimaOfIntegersWrapAsTheyDo) {
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

TEST(Laws, AFoldThatIsNoHomomorphismIsRefuted) {
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
TEST(Laws, WelfordForCountsAlone) {
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

TEST(Laws, WelfordWithoutAGuardBreaksOnNothing) {  // 0 / 0 of nothing, and of counts that cancel
  MonoidBuilder m({f32, f32, f32});
  welford(m, 2);
  LawVerdict v = check(m);
  expect_broken(v, "identity");
  expect_broken(v, "associative");
}

TEST(Laws, AMeanWithAWrongWeightIsRefuted) {
  MonoidBuilder m({f32, f32});
  Cell zero = m.f(0), n = m.a(0) + m.b(0);
  m.identity({zero, zero});
  m.combine({n, choose(m.a(0) == zero, m.b(1), choose(m.b(0) == zero, m.a(1), (m.a(1) + m.b(1)) / m.f(2)))});
  expect_broken(check(m), "associative");
}

TEST(Laws, AMeanWithAnIntegerCount) {
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
TEST(Laws, LogSumExpLessOneLeavesTheDomainOfTheLogarithm) {
  MonoidBuilder m({f64});
  m.identity({m.f(0, f64)});
  m.combine({function(CellOp::log, exp(m.a(0)) + exp(m.b(0)) - m.f(1, f64))});
  LawVerdict v = check(m);
  expect_broken(v, "associative");
  EXPECT_EQ(v.laws.identity, Law::assumed);
  EXPECT_EQ(v.assumed.at(0).why, "an exponential may overflow");
}

TEST(Laws, LogSumExpWithoutAGuardBreaksOnNothing) {
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

TEST(Laws, LengthsAddBySquares) {  // hypot: over all reals 0 is no identity, for -1 becomes 1
  MonoidBuilder m({f32});
  m.identity({m.f(0)});
  m.combine({function(CellOp::sqrt, m.a(0) * m.a(0) + m.b(0) * m.b(0))});
  LawVerdict v = check(m);
  expect_broken(v, "identity");
  EXPECT_EQ(v.laws.associative, Law::assumed);  // the squares may overflow where the length does not
  EXPECT_EQ(v.laws.commutative, Law::proved);
}

TEST(Laws, TheFirstThatIsThere) {  // of (false, 5) before nothing, (false, 0) is left
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

TEST(Laws, ASegmentedSumTheWrongWayRoundIsRefuted) {
  MonoidBuilder m({boolean, f32});
  m.identity({m.truth(false), m.f(0)});
  m.combine({either(m.a(0), m.b(0)), choose(m.b(0), m.a(1), m.a(1) + m.b(1))});
  EXPECT_FALSE(check(m).broken.empty());
}

// ---- C01, C02: refuted with values.

struct Bad {
  std::string name;
  double identity;
  Cell (*combine)(MonoidBuilder& m);
  std::string law;
};
class BadLaws : public ::testing::TestWithParam<Bad> {};
INSTANTIATE_TEST_SUITE_P(
    C01C02, BadLaws,
    ::testing::Values(
        Bad{"difference", 0, [](MonoidBuilder& m) { return m.a(0) - m.b(0); }, "associative"},
        Bad{"mean", 0, [](MonoidBuilder& m) { return (m.a(0) + m.b(0)) / m.f(2); }, "associative"},
        Bad{"saturating", 0, [](MonoidBuilder& m) { return min(m.a(0) + m.b(0), m.f(100)); }, "associative"},
        Bad{"left", 0, [](MonoidBuilder& m) { return m.a(0); }, "identity"},
        Bad{"max_from_zero", 0, [](MonoidBuilder& m) { return max(m.a(0), m.b(0)); }, "identity"},
        Bad{"sum_from_one", 1, [](MonoidBuilder& m) { return m.a(0) + m.b(0); }, "identity"},
        Bad{"max_from_infinity", inf, [](MonoidBuilder& m) { return max(m.a(0), m.b(0)); }, "identity"},
        Bad{"nearly_sum", 0, [](MonoidBuilder& m) { return m.a(0) + m.b(0) + m.f(0.001) * m.a(0) * m.b(0) * m.b(0); },
            "associative"}),
    [](const auto& info) { return info.param.name; });

TEST_P(BadLaws, AreRefutedWithValues) {
  MonoidBuilder m({f32});
  m.identity({m.f(GetParam().identity)});
  m.combine({GetParam().combine(m)});
  expect_broken(check(m), GetParam().law);
}

// A sum of bits and their carries is the sum: a circuit that 32 bits do not keep from being proved.
MonoidBuilder& adder_of_bits(MonoidBuilder& m, ElementType type, std::int64_t by) {
  auto two = [&](CellOp op, Cell a, Cell b) { return apply(op, type, {a, b}); };
  m.identity({m.i(0, type)});
  m.combine(
      {two(CellOp::bitxor_, m.a(0), m.b(0)) + two(CellOp::shl, two(CellOp::bitand_, m.a(0), m.b(0)), m.i(by, type))});
  return m;
}

TEST(Laws, AnAdderOfBits) {
  for (ElementType type : {i8, i32}) {
    MonoidBuilder carry({type}), carry_too_far({type});
    expect_proved(check(adder_of_bits(carry, type, 1)));
    expect_broken(check(adder_of_bits(carry_too_far, type, 2)), "associative");
  }
}

TEST(Laws, SaturatingAdditionOfIntegers) {
  MonoidBuilder m({i32});
  m.identity({m.i(0, i32)});
  m.combine({min(m.a(0) + m.b(0), m.i(100, i32))});
  expect_broken(check(m), "associative");
}

TEST(Laws, AMinimumOverWrappedIntegersIsRefutedAtTheExtremes) {  // fails only where the addition wraps
  MonoidBuilder m({i8, i8});
  m.identity({m.i(127, i8), m.i(0, i8)});
  m.combine({min(m.a(0), m.a(1) + m.b(0)), m.a(1) + m.b(1)});  // the least prefix sum
  EXPECT_FALSE(check(m).broken.empty());
}

TEST(Laws, WithoutStepsForAProofALawIsAssumed) {  // C03
  MonoidBuilder m({f32});
  m.identity({m.f(1)});
  m.combine({m.a(0) * m.b(0)});
  LawVerdict v = check(m, {}, {0, 1000});
  expect_laws(v, Law::proved, Law::assumed, Law::proved);
  EXPECT_EQ(v.assumed.at(0).why, "it takes more steps than a proof may");
}

TEST(Laws, ALawThatCannotBeProvedIsAssumedInTime) {  // C03: addition, written so that no rule for tanh or asinh helps
  MonoidBuilder m({f32});
  m.identity({m.f(0)});
  m.combine({function(CellOp::asinh, function(CellOp::sinh, m.a(0) + m.b(0)))});
  auto begin = std::chrono::steady_clock::now();
  LawVerdict v = check(m);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(v.laws.associative, Law::assumed);
  EXPECT_TRUE(v.broken.empty());
}

// ---- By their normal form, without a solver.

TEST(Laws, MaximaOfSumsNeedNoSolver) {
  MonoidBuilder kadane({f64, f64, f64, f64});
  Cell low = kadane.f(-inf, f64);
  kadane.identity({kadane.f(0, f64), low, low, low});
  Cell crossing = kadane.a(2) + kadane.b(1), prefix = kadane.a(0) + kadane.b(1);
  kadane.combine({kadane.a(0) + kadane.b(0), choose(kadane.a(1) > prefix, kadane.a(1), prefix),
                  max(kadane.b(2), kadane.a(2) + kadane.b(0)), max(max(kadane.a(3), kadane.b(3)), crossing)});
  expect_laws(check(kadane, {}, {0, 2000}), Law::proved, Law::proved, Law::broken);
}

TEST(Laws, LatticesNeedNoSolver) {  // clamps compose; -inf and inf are their identity, for those with low <= high
  MonoidBuilder m({i32, i32});
  m.identity({m.i(least_integer(i32), i32), m.i(greatest_integer(i32), i32)});
  m.combine({max(m.a(0), m.b(0)), min(m.a(1), m.b(1))});
  expect_proved(check(m, {}, {0, 2000}));
}

TEST(Laws, ASumThatWrapsIsNoTermOfAMaximum) {
  MonoidBuilder m({i64, i64});
  m.identity({m.i(0), m.i(least_integer(i64))});
  m.combine({m.a(0) + m.b(0), max(m.a(1), m.a(0) + m.b(1))});
  expect_broken(check(m), "identity");
}

// ---- Folds.

TEST(Laws, AFoldThatCountsItsElementsIsNotProvedBySmallBlocks) {
  ir::Program program;
  program.monoids = {*ir::builtin_monoid("sum", f32)};
  MonoidBuilder m({f32});
  m.identity({m.f(0)});
  m.combine({m.a(0) + m.b(0)});
  Cell count = m.reduce(ir::MonoidId(0), m.fold_f(1)), sum = m.reduce(ir::MonoidId(0), m.x(0));
  m.fold_to({choose(count > m.fold_f(6), m.fold_f(0), sum)});
  LawVerdict v = check(m, program);
  EXPECT_EQ(v.laws.fold, Law::assumed);
  EXPECT_EQ(v.assumed.at(0).why, "it is shown for blocks of up to two elements");
}

// ---- C04.

TEST(Laws, TheUsersOwnMaxDiffersOnNanOnly) {
  MonoidBuilder m({f32}), reversed({f32}), minimum({f64}), same({f32}), sum({f32}), integers({i32});
  m.identity({m.f(-inf)});
  m.combine({choose(m.a(0) > m.b(0), m.a(0), m.b(0))});
  EXPECT_EQ(differs_from_builtin_only_on_nan({}, m.build()), "max");
  reversed.identity({reversed.f(-inf)});
  reversed.combine({choose(reversed.a(0) < reversed.b(0), reversed.b(0), reversed.a(0))});
  EXPECT_EQ(differs_from_builtin_only_on_nan({}, reversed.build()), "max");
  minimum.identity({minimum.f(inf, f64)});
  minimum.combine({choose(minimum.a(0) < minimum.b(0), minimum.a(0), minimum.b(0))});
  EXPECT_EQ(differs_from_builtin_only_on_nan({}, minimum.build()), "min");
  same.identity({same.f(-inf)});
  same.combine({max(same.a(0), same.b(0))});
  EXPECT_EQ(differs_from_builtin_only_on_nan({}, same.build()), std::nullopt);
  sum.identity({sum.f(0)});
  sum.combine({sum.a(0) + sum.b(0)});
  EXPECT_EQ(differs_from_builtin_only_on_nan({}, sum.build()), std::nullopt);
  integers.identity({integers.i(least_integer(i32), i32)});
  integers.combine({choose(integers.a(0) > integers.b(0), integers.a(0), integers.b(0))});
  EXPECT_EQ(differs_from_builtin_only_on_nan({}, integers.build()), std::nullopt);
}

TEST(Laws, AMaxThatIsCutOffIsNotTheBuiltInOne) {  // equal up to 4096.5 only
  MonoidBuilder m({f32});
  m.identity({m.f(-inf)});
  Cell most = choose(m.a(0) > m.b(0), m.a(0), m.b(0));
  m.combine({choose(most > m.f(4096.5), m.f(4096.5), most)});
  EXPECT_EQ(differs_from_builtin_only_on_nan({}, m.build()), std::nullopt);
}

TEST(Laws, AreTheSameEveryTime) {
  MonoidBuilder m({f32, f32});
  m.identity({m.f(0), m.f(0)});
  m.combine({m.a(0) - m.b(1), m.b(0) * m.a(1)});
  LawVerdict first = check(m), second = check(m);
  ASSERT_FALSE(first.broken.empty());
  ASSERT_EQ(first.broken.size(), second.broken.size());
  for (std::size_t k = 0; k < first.broken.size(); ++k) EXPECT_EQ(first.broken[k].values, second.broken[k].values);
}

}  // namespace
}  // namespace tap
