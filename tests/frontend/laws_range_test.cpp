// Laws of what overflows on the way: equal as reals, and as floats inf - inf.
#include <gtest/gtest.h>

#include "compiler/frontend/proofs/laws.h"
#include "tests/frontend/build_monoid.h"

namespace tap {
namespace {

using namespace testing;
using ir::Law;
constexpr ElementType wide = ElementType::f64;

void expect_verdict(const MonoidBuilder& m, Law identity, Law associative, Law commutative, const std::string& why) {
  LawVerdict v = check_laws({}, m.build(), {});
  EXPECT_EQ(v.laws.identity, identity);
  EXPECT_EQ(v.laws.associative, associative);
  EXPECT_EQ(v.laws.commutative, commutative);
  for (const LawDoubt& doubt : v.assumed) EXPECT_EQ(doubt.why, std::string(finite_values) + why) << doubt.law;
}
void expect_laws_of(Cell (*combine)(MonoidBuilder& m), double identity, Law of_identity, Law associative,
                    Law commutative, const std::string& why = "") {
  MonoidBuilder m({wide});
  m.identity({m.f(identity, wide)});
  m.combine({combine(m)});
  expect_verdict(m, of_identity, associative, commutative, why);
}

constexpr const char* of_differences = "terms that cancel may overflow";
constexpr const char* of_products = "an intermediate product or quotient may overflow although the result is finite";
constexpr const char* of_conditions = "a condition tests a value that may overflow";

TEST(LawsInRange, CancellingTermsMayOverflow) {
  auto cubes = [](MonoidBuilder& m) {
    Cell cube = m.a(0) * m.a(0) * m.a(0);
    return m.a(0) + m.b(0) + (cube - cube) * m.f(1000000, wide);
  };
  expect_laws_of(cubes, 0, Law::assumed, Law::assumed, Law::assumed, of_differences);
  auto multiples = [](MonoidBuilder& m) {
    return m.a(0) + m.b(0) + (m.f(1e6, wide) * m.a(0) - m.f(1e6, wide) * m.a(0));
  };
  expect_laws_of(multiples, 0, Law::assumed, Law::assumed, Law::assumed, of_differences);
}

TEST(LawsInRange, TermsNoLargerThanTheStatesMayCancel) {
  auto states = [](MonoidBuilder& m) { return m.a(0) + m.b(0) + (m.a(0) - m.a(0)); };
  expect_laws_of(states, 0, Law::proved, Law::proved, Law::proved);
}

TEST(LawsInRange, ProductScaledDown) {
  auto times_zero = [](MonoidBuilder& m) { return m.a(0) + m.b(0) + m.f(0, wide) * (m.a(0) * m.b(0)); };
  expect_laws_of(times_zero, 0, Law::proved, Law::assumed, Law::proved, of_products);
  auto conditioned = [](MonoidBuilder& m) {
    Cell square = m.a(0) * m.a(0);
    return choose(square == square, m.a(0) + m.b(0), m.f(0, wide));
  };
  expect_laws_of(conditioned, 0, Law::assumed, Law::assumed, Law::assumed, of_conditions);
}

TEST(LawsInRange, TermsOfAResultMayOverflow) {  // as it does
  auto probably = [](MonoidBuilder& m) { return m.a(0) + m.b(0) - m.a(0) * m.b(0); };
  expect_laws_of(probably, 0, Law::proved, Law::proved, Law::proved);
}

// The weight b.n / n is at most 1; of d * b.n nothing is known but that it is divided again.
TEST(LawsInRange, WeightedMean) {
  for (bool in_range : {false, true}) {
    MonoidBuilder m({wide, wide, wide});
    Cell zero = m.f(0, wide), n = m.a(0) + m.b(0), d = m.b(1) - m.a(1), w = m.b(0) / n;
    Cell has_a = m.a(0) > zero, has_b = m.b(0) > zero;
    Cell mean = in_range ? m.a(1) + d * w : m.a(1) + d * m.b(0) / n;
    Cell m2 = m.a(2) + m.b(2) + (in_range ? d * (d * (m.a(0) * w)) : d * d * m.a(0) * m.b(0) / n);
    m.identity({zero, zero, zero});
    auto guarded = [&](Cell value, std::uint32_t k, Cell sum) {
      return choose(both(has_a, has_b), value, choose(has_a, m.a(k), choose(has_b, m.b(k), sum)));
    };
    m.combine({guarded(n, 0, n), guarded(mean, 1, m.a(1) + m.b(1)), guarded(m2, 2, m.a(2) + m.b(2))});
    Law law = in_range ? Law::proved : Law::assumed;
    expect_verdict(m, Law::proved, law, law, of_products);
  }
}

// Both sides compute the same, whatever overflows.
TEST(LawsInRange, StructurallyEqualSides) {
  MonoidBuilder m({wide, wide});
  Cell n = m.a(0) + m.b(0), zero = m.f(0, wide);
  m.identity({zero, zero});
  m.combine({n, choose(n == zero, zero, (m.a(0) * m.a(1) + m.b(0) * m.b(1)) / n)});
  EXPECT_EQ(check_laws({}, m.build(), {}).laws.commutative, Law::proved);
}

}  // namespace
}  // namespace tap
