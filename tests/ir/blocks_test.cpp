#include "ir/blocks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tap::ir {
namespace {

std::vector<Range> all(const Blocks& blocks, Range whole) {
  std::vector<Range> result;
  for (std::int64_t n = 0; n < blocks.count; ++n) result.push_back(blocks.block(whole, n));
  return result;
}

TEST(Blocks, TenOverFour) { EXPECT_EQ(all({4}, {0, 10}), (std::vector<Range>{{0, 3}, {3, 6}, {6, 9}, {9, 10}})); }
TEST(Blocks, NineOverFourHasAnEmptyBlock) { EXPECT_EQ(all({4}, {2, 11})[3], (Range{11, 11})); }
TEST(Blocks, ExplicitBoundaries) {
  EXPECT_EQ(all({2, {0, 100, 4096}}, {0, 4096}), (std::vector<Range>{{0, 100}, {100, 4096}}));
}
TEST(Blocks, ManyMoreBlocksThanPoints) { EXPECT_EQ((Blocks{1LL << 40}.block({0, 3}, (1LL << 40) - 1)), (Range{3, 3})); }
TEST(Blocks, NestedBlocksDifferFromFlatOnes) {  // trap 11
  std::vector<std::int64_t> sizes;
  for (Range outer : all({2}, {0, 10}))
    for (Range inner : all({3}, outer)) sizes.push_back(inner.size());
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{2, 2, 1, 2, 2, 1}));
}
TEST(Blocks, EqualBlocksNeedNoTable) {
  EXPECT_EQ(blocks_of({0, 10}, all({4}, {0, 10})), Blocks{4});
  EXPECT_EQ(blocks_of({0, 10}, {{0, 1}, {1, 10}}), (Blocks{2, {0, 1, 10}}));
}
TEST(Blocks, Tiles) {
  EXPECT_TRUE(tiles({3, {0, 5, 5, 9}}, {0, 9}));
  EXPECT_FALSE(tiles({2, {0, 5, 5, 9}}, {0, 9}));
  EXPECT_FALSE(tiles({3, {0, 5, 4, 9}}, {0, 9}));
  EXPECT_FALSE(tiles({1, {0, 8}}, {0, 9}));
  EXPECT_FALSE(tiles({0}, {0, 9}));
}
RC_GTEST_PROP(Blocks, TileTheirRangeInOrder, (std::int8_t lo, std::uint8_t size)) {
  Range whole{lo, lo + size};
  Blocks blocks{*rc::gen::inRange<std::int64_t>(1, 40)};
  std::int64_t at = whole.lo;
  for (Range block : all(blocks, whole)) {
    RC_ASSERT(block.lo == at);
    RC_ASSERT(block.hi >= block.lo);
    at = block.hi;
  }
  RC_ASSERT(at == whole.hi);
}

}  // namespace
}  // namespace tap::ir
