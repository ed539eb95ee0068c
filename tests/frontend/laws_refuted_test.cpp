// Monoids whose laws are refuted with values, proofs that stop at a limit, and forms that need no solver.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/graph.h"
#include "tests/frontend/law_verdicts.h"

namespace tap {
namespace {

using namespace testing;
using ir::CellOp;

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

TEST_P(BadLaws, AreRefutedWithWitnesses) {
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

TEST(Laws, BitwiseAdder) {
  for (ElementType type : {i8, i32}) {
    MonoidBuilder carry({type}), carry_too_far({type});
    expect_proved(check(adder_of_bits(carry, type, 1)));
    expect_broken(check(adder_of_bits(carry_too_far, type, 2)), "associative");
  }
}

TEST(Laws, SaturatingIntegerAddition) {
  MonoidBuilder m({i32});
  m.identity({m.i(0, i32)});
  m.combine({min(m.a(0) + m.b(0), m.i(100, i32))});
  expect_broken(check(m), "associative");
}

TEST(Laws, MinimumOfWrappedIntegersIsRefutedAtTheExtremes) {  // fails only where the addition wraps
  MonoidBuilder m({i8, i8});
  m.identity({m.i(127, i8), m.i(0, i8)});
  m.combine({min(m.a(0), m.a(1) + m.b(0)), m.a(1) + m.b(1)});  // the least prefix sum
  EXPECT_FALSE(check(m).broken.empty());
}

TEST(Laws, StepLimitLeavesLawsAssumed) {  // C03
  MonoidBuilder m({f32});
  m.identity({m.f(1)});
  m.combine({m.a(0) * m.b(0)});
  LawVerdict v = check(m, {}, {0, 1000});
  expect_laws(v, Law::proved, Law::assumed, Law::proved);
  EXPECT_EQ(v.assumed.at(0).why, "the proof exceeds its step limit");
}

TEST(Laws, UnprovableLawIsAssumedInTime) {  // C03: addition, written so that no rule for tanh or asinh helps
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

TEST(Laws, WrappingSumIsNotATermOfAMaximum) {
  MonoidBuilder m({i64, i64});
  m.identity({m.i(0), m.i(least_integer(i64))});
  m.combine({m.a(0) + m.b(0), max(m.a(1), m.a(0) + m.b(1))});
  expect_broken(check(m), "identity");
}

// ---- Folds.

TEST(Laws, CountingFoldIsNotProvedBySmallBlocks) {
  ir::Program program;
  program.monoids = {*ir::builtin_monoid("sum", f32)};
  MonoidBuilder m({f32});
  m.identity({m.f(0)});
  m.combine({m.a(0) + m.b(0)});
  Cell count = m.reduce(ir::MonoidId(0), m.fold_f(1)), sum = m.reduce(ir::MonoidId(0), m.x(0));
  m.fold_to({choose(count > m.fold_f(6), m.fold_f(0), sum)});
  LawVerdict v = check(m, program);
  EXPECT_EQ(v.laws.fold, Law::assumed);
  EXPECT_EQ(v.assumed.at(0).why, "it is proved only for blocks of up to two elements");
}

// ---- C04.

TEST(Laws, UserDefinedMaxDiffersOnNanOnly) {
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

TEST(Laws, ClampedMaxIsNotTheBuiltIn) {  // equal up to 4096.5 only
  MonoidBuilder m({f32});
  m.identity({m.f(-inf)});
  Cell most = choose(m.a(0) > m.b(0), m.a(0), m.b(0));
  m.combine({choose(most > m.f(4096.5), m.f(4096.5), most)});
  EXPECT_EQ(differs_from_builtin_only_on_nan({}, m.build()), std::nullopt);
}

TEST(Laws, AreDeterministic) {
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
