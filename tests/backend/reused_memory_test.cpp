// Local values that use memory one after another: never two at once, and with no more blocks than are needed at once.
#include "backend/lower/reused_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "backend/loops/loops.h"
#include "backend/lower/lowered.h"
#include "passes/fusion/fuse.h"
#include "tests/frontend/compile_source.h"

namespace tap::backend::test {
namespace {

TEST(ReusedMemory, AsFewBlocksAsAreNeededAtOnce) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t operations = 1 + random() % 20;
    std::vector<Needed> needed(random() % 30);
    for (Needed& n : needed) {
      n.first = random() % operations;
      n.last = n.first + random() % (operations - n.first);
    }
    std::ranges::sort(needed, {}, &Needed::first);
    ReusedMemory memory;
    std::vector<std::size_t> block;
    for (const Needed& n : needed) block.push_back(memory.block_for(n, 64));
    std::size_t blocks = 0, at_once = 0;
    for (std::size_t a = 0; a < needed.size(); ++a) {
      blocks = std::max(blocks, block[a] + 1);
      for (std::size_t b = 0; b < a; ++b)
        EXPECT_FALSE(block[a] == block[b] && needed[a].first <= needed[b].last && needed[b].first <= needed[a].last);
    }
    for (std::size_t o = 0; o < operations; ++o)
      at_once = std::max<std::size_t>(
          at_once, std::ranges::count_if(needed, [&](const Needed& n) { return n.first <= o && o <= n.last; }));
    EXPECT_EQ(blocks, at_once);
  }
}

TEST(ReusedMemory, TheBlockThatGrowsLeast) {
  ReusedMemory memory;
  EXPECT_EQ(memory.block_for({0, 0}, 1000), 0u);
  EXPECT_EQ(memory.block_for({0, 1}, 100), 1u);
  EXPECT_EQ(memory.block_for({2, 2}, 90), 0u);   // neither grows
  EXPECT_EQ(memory.block_for({3, 3}, 500), 0u);  // the other would grow
  EXPECT_EQ(memory.block_for({3, 4}, 500), 1u);
  EXPECT_EQ(memory.block_for({4, 4}, 2000), 0u);
  EXPECT_EQ(memory.block_for({4, 4}, 1), 2u);
}

// Of five inner values, two are needed at once.
TEST(ReusedMemory, ChainsInGroups) {
  auto outcome = tap::test::compile_text(
      "program p(X: f32[999]) -> (Y: f32[999]) {\n"
      "  a[i] = X[i-1 else 0] + X[i] + X[i+1 else 0]\n  b[i] = a[i-1 else 0] + a[i]\n"
      "  c[i] = b[i] + b[i+1 else 0]\n  d[i] = c[i] + c[i+1 else 0]\n"
      "  Y[i] = d[i] + d[i+1 else 0] }");
  ASSERT_TRUE(outcome.compiled) << outcome.messages;
  const ir::Program fused =
      passes::apply_fusions(outcome.compiled->program, {{ir::PlannedFusion{{"a", "b", "c", "d", "Y"}, {"i"}}}}).program;
  const Kernel kernel = lower(fused, fused[fused[fused.main].operations[0].op]);
  std::size_t own = 0, locals = 0;
  for (std::uint32_t t = 0; t < kernel.tensors.size(); ++t) {
    locals += kernel.tensors[t].local.has_value();
    own += kernel.tensors[t].local && memory_of(kernel, t) == t;
  }
  EXPECT_EQ(locals, 4u);
  EXPECT_EQ(own, 2u);
  EXPECT_LE(scratch_bytes(kernel), 2 * 1024 * sizeof(float) + 1024);
}

}  // namespace
}  // namespace tap::backend::test
