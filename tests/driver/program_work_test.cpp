// The arithmetic that reported speeds count: of scans and scatters it is linear.
#include <gtest/gtest.h>

#include "compiler/driver/work.h"
#include "tests/passes/lowered.h"

namespace tap::driver {
namespace {

double flops_of_text(const std::string& text) {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  return work_of(outcome.compiled->program).flops;
}

TEST(ProgramWork, EachPointOfAReduction) {
  EXPECT_EQ(
      flops_of_text("program p(A: f32[3, 5], B: f32[5, 7]) -> (C: f32[3, 7]) { C[i, j] = sum[k] A[i, k] * B[k, j] }"),
      2 * 3 * 5 * 7);
}

// A cell of a scan continues the combination of the one before it.
TEST(ProgramWork, ScansAreLinear) {
  EXPECT_EQ(flops_of_text("program p(X: f32[6, 50]) -> (Y: f32[6, 50]) { Y[i, j] = sum[k in 0..j + 1] X[i, k] }"),
            6 * 50);
  EXPECT_EQ(flops_of_text("program p(X: f32[6, 50]) -> (Y: f32[6, 50]) { Y[i, j] = max[k in 0..j + 1] X[i, k] * 2 }"),
            2 * 6 * 50);
}

// The bounds of attention's rows do the same, but each row combines other terms.
TEST(ProgramWork, TrianglesAreNotScans) {
  EXPECT_EQ(
      flops_of_text("program p(A: f32[6, 50], X: f32[50]) -> (Y: f32[6]) { Y[i] = sum[k in 0..i + 1] A[i, k] * X[k] }"),
      2 * 6 * 6);
}

TEST(ProgramWork, ScattersAreLinear) {
  const double flops = flops_of_text(
      "program p(at: i32[100], G: f32[100, 8]) -> (Y: f32[1000, 8]) { Y[v, d] = sum[t] if i64(at[t]) == v then G[t, d] "
      "else "
      "0 }");
  EXPECT_EQ(flops, 100 * 8);
}

}  // namespace
}  // namespace tap::driver
