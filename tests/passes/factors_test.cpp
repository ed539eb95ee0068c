#include "passes/factors.h"

#include <gtest/gtest.h>

#include "passes/sites.h"
#include "tests/passes/lowered.h"

namespace tap::passes::test {
namespace {

// The factors of the site that writes Y.
std::string factors_for(const std::string& signature, const std::string& body) {
  ir::Program program = lowered("program p(" + signature + " { " + body + " }");
  const ir::Graph& graph = program[program.main];
  FactorTable table(program);
  for (const Site& site : sites_of(program, graph, table))
    for (ir::ValueId v : site.results)
      if (graph[v].name == "Y") return to_string(site.factors);
  return "none";
}

TEST(Factors, ProductsAndReductions) {
  EXPECT_EQ(factors_for("x: f32[4, 6], w: f32[6, 5]) -> (Y: f32[4, 5])", "Y[i, o] = sum[k] x[i, k] * w[k, o]"),
            "([i, k], [k, o])->([i, o]) {i=4, o=5, k=6} reduction={k}");
  EXPECT_EQ(factors_for("x: f32[4, 6], b: f32[6]) -> (Y: f32[4, 6])", "Y[i, j] = x[i, j] + b[j]"),
            "([i, j], [j])->([i, j]) {i=4, j=6}");
}

TEST(Factors, DigitsOfOneAxisMajorToMinor) {
  EXPECT_EQ(factors_for("x: f32[2, 4]) -> (Y: f32[8])", "Y[4*i + j] = x[i, j]"), "([i, j])->([i j]) {i=2, j=4}");
  EXPECT_EQ(factors_for("x: f32[12]) -> (Y: f32[2, 3, 2])", "Y[i, j, k] = x[6*i + 2*j + k]"),
            "([i j k])->([i, j, k]) {i=2, j=3, k=2}");
}

TEST(Factors, WhatMovesIsAPermutation) {
  EXPECT_EQ(factors_for("x: f32[8]) -> (Y: f32[8])", "Y[i] = x[7 - i]"), "([i])->([i]) {i=8} permutation={i}");
  EXPECT_EQ(factors_for("x: f32[8]) -> (Y: f32[8])", "Y[i] = x[i - 1 else 0] + x[i] + x[i + 1 else 0]"),
            "([i])->([i]) {i=8} permutation={i}");
  EXPECT_EQ(factors_for("x: f32[8]) -> (Y: f32[3])", "Y[i] = x[2*i + 1]"), "([i])->([i]) {i=8} permutation={i}");
}

TEST(Factors, HaloWidths) {
  ir::Program program =
      lowered("program p(x: f32[8]) -> (Y: f32[8]) { Y[i] = x[i - 2 else 0] + x[i] + x[i + 1 else 0] }");
  Factors found = factors_of(program.operators[0]);
  ASSERT_EQ(found.operands.size(), 1u);
  EXPECT_EQ(found.operands[0].axes[0].before, 2);
  EXPECT_EQ(found.operands[0].axes[0].after, 1);
  program = lowered("program p(x: f32[17], w: f32[3]) -> (Y: f32[8]) { Y[i] = sum[u] x[2*i + u] * w[u] }");
  found = factors_of(program.operators[0]);
  EXPECT_EQ(found.operands[0].axes[0].before, 0);
  EXPECT_EQ(found.operands[0].axes[0].after, 1);  // a block of 2·b cells ends one cell before its last window does
}

TEST(Factors, WindowsAndWhatIsLeftOfTheAxis) {
  EXPECT_EQ(factors_for("x: f32[224], w: f32[3]) -> (Y: f32[112])", "Y[p] = sum[u] x[2*p + u else 0] * w[u]"),
            "([p u], [u])->([p]) {p=112, u=2} reduction={u} permutation={p}");
}

TEST(Factors, DataDependentAndFixedPlacesNeedTheWholeAxis) {
  EXPECT_EQ(factors_for("t: f32[9, 4], ids: i64[6]) -> (Y: f32[6, 4])", "Y[n, d] = t[ids[n], d]"),
            "([n], [#t0, d])->([n, d]) {n=6, d=4, #t0=9} replicated={#t0}");
  EXPECT_EQ(factors_for("x: f32[9, 4]) -> (Y: f32[4])", "Y[d] = x[3, d]"),
            "([#x0, d])->([d]) {d=4, #x0=9} replicated={#x0}");
  EXPECT_EQ(factors_for("x: f32[4, 4]) -> (Y: f32[4])", "Y[d] = x[d, d]"),
            "([d, #x1])->([d]) {d=4, #x1=4} replicated={#x1}");
}

TEST(Factors, OperationsThatWriteOneValueAreOneSite) {
  EXPECT_EQ(factors_for("a: f32[4, 3], b: f32[4, 5]) -> (Y: f32[4, 8])",
                        "Y[i, j] = a[i, j] for j in 0..3  Y[i, 3 + j] = b[i, j]"),
            "([i, j], [i, j])->([i, j]) {i=4, j=8} replicated={j}");
  // Pieces of one tensor only change places.
  EXPECT_EQ(factors_for("x: f32[4, 8]) -> (Y: f32[4, 8])",
                        "a[i, j] = x[i, j + 1] for j in 0..7  b[i, j] = x[i, j] for j in 0..1 "
                        "Y[i, j] = a[i, j] for j in 0..7  Y[i, 7 + j] = b[i, j]"),
            "([i, j], [i, j])->([i, j]) {i=4, j=8} permutation={j}");
}

TEST(Factors, NoCellsNoDigits) {
  EXPECT_EQ(factors_for("x: f32[0]) -> (Y: f32[0, 4])", "Y[i, j] = x[4*i + j]"), "none");
}

}  // namespace
}  // namespace tap::passes::test
