#include "compiler/driver/show/sharding_facts.h"

#include <gtest/gtest.h>

#include "compiler/frontend/elaborate/compile.h"

namespace tap::driver {
namespace {

// The facts of the first operator that is no region, as text.
std::vector<std::string> facts_of(const std::string& source) {
  SourceMap sources;
  FileId file = sources.add("a.tap", source);
  Diagnostics diagnostics;
  auto compiled = compile(sources, file, {}, diagnostics);
  EXPECT_TRUE(compiled && !diagnostics.has_errors());
  if (!compiled) return {};
  std::vector<std::string> texts;
  for (const ir::Operator& op : compiled->program.operators) {
    if (op.region()) continue;
    for (const DimFacts& facts : sharding_facts(compiled->program, op)) texts.push_back(describe(op, facts));
    break;
  }
  return texts;
}

using Lines = std::vector<std::string>;

TEST(ShardingFacts, ShardsOfAMapAreDisjoint) {
  EXPECT_EQ(facts_of("program p(X: f32[8]) -> (Y: f32[8]) { Y[i] = 2 * X[i] }"),
            Lines{"i: yes; shards share no operand cells"});
}

TEST(ShardingFacts, HaloIsAsWideAsTheReads) {
  // The shards 0..49 and 49..98 read the cells 0..51 and 49..100; no access by itself shares a cell.
  EXPECT_EQ(facts_of("program p(X: f32[100]) -> (Y: f32[98]) { Y[i] = X[i] + X[i + 1] + X[i + 2] }"),
            Lines{"i: yes; two shards share a part of X (8 bytes)"});
}

TEST(ShardingFacts, BytesThatOverflow) {
  EXPECT_EQ(facts_of("program p(X: f64[3000000000, 4]) -> (Y: f64[3000000000, 1000000000]) "
                     "{ Y[i, j] = sum[k] X[i, k] }")
                .back(),
            "k: yes, as partials of 2^63 bytes or more combined by sum; shards share no operand cells");
}

TEST(ShardingFacts, Product) {
  EXPECT_EQ(facts_of("program p(A: f32[4, 6], B: f32[6, 8]) -> (C: f32[4, 8]) { C[i, j] = sum[k] A[i, k] * B[k, j] }"),
            (Lines{"i: yes; two shards share all of B (192 bytes)", "j: yes; two shards share all of A (96 bytes)",
                   "k: yes, as partials of 128 bytes combined by sum; shards share no operand cells"}));
}

TEST(ShardingFacts, DataDependentReadNeedsTheWholeAxis) {
  EXPECT_EQ(facts_of("program p(T: f32[10], I: i64[4]) -> (Y: f32[4]) { Y[i] = T[I[i]] }"),
            Lines{"i: yes; two shards share all of T (40 bytes)"});
}

TEST(ShardingFacts, UnsplittableDimsHaveAReason) {
  EXPECT_EQ(facts_of("program p(X: f32[1, 4]) -> (Y: f32[1, 4]) { Y[i, j] = X[i, j] }"),
            (Lines{"i: no, it has fewer than two points", "j: yes; shards share no operand cells"}));
  EXPECT_EQ(
      facts_of(
          "extern op f(x: f32[n, m]) -> (y: f32[n, m]) {\n index [i: n, keep j: m]\n read x at [i, j] shape [1, 1]\n"
          " write y at [i, j] shape [1, 1]\n kernel \"f\" }\nprogram p(X: f32[4, 4]) -> (Y: f32[4, 4]) { Y = f(X) }"),
      (Lines{"i: yes; shards share no operand cells", "j: no, the kernel keeps it whole"}));
}

}  // namespace
}  // namespace tap::driver
