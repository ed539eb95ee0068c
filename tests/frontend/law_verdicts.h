// Verdicts on the laws of a monoid, and what they must be.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

#include "compiler/frontend/proofs/laws.h"
#include "tests/frontend/build_monoid.h"

namespace tap::testing {

using ir::Law;
inline constexpr ElementType f32 = ElementType::f32, f64 = ElementType::f64, i64 = ElementType::i64,
                             i32 = ElementType::i32, i8 = ElementType::i8, u8 = ElementType::u8,
                             boolean = ElementType::boolean;

inline LawVerdict check(const MonoidBuilder& m, const ir::Program& program = {}, LawOptions options = {}) {
  auto begin = std::chrono::steady_clock::now();
  LawVerdict verdict = check_laws(program, m.build(), options);
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const char* test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  printf("%-40s %8.1f ms", test, ms);
  for (const LawDoubt& doubt : verdict.assumed) printf("  [%s assumed: %s]", doubt.law.c_str(), doubt.why.c_str());
  printf("\n");
  return verdict;
}
inline void expect_laws(const LawVerdict& v, Law identity, Law associative, Law commutative, Law fold = Law::unknown) {
  EXPECT_EQ(v.laws.identity, identity);
  EXPECT_EQ(v.laws.associative, associative);
  EXPECT_EQ(v.laws.commutative, commutative);
  EXPECT_EQ(v.laws.fold, fold);
}
inline void expect_proved(const LawVerdict& v, Law fold = Law::unknown) {
  expect_laws(v, Law::proved, Law::proved, Law::proved, fold);
  EXPECT_TRUE(v.broken.empty());
}
// The one law that is broken, with values for which the two sides differ.
inline void expect_broken(const LawVerdict& v, const std::string& law) {
  auto it = std::find_if(v.broken.begin(), v.broken.end(), [&](const LawCounterexample& c) { return c.law == law; });
  ASSERT_NE(it, v.broken.end()) << law << " is not refuted";
  EXPECT_FALSE(it->values.empty());
  EXPECT_FALSE(it->left == it->right);
}

}  // namespace tap::testing
