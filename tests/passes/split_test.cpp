// Splits cut domains exactly, and their meaning is that of the whole.
#include "passes/split.h"

#include <gtest/gtest.h>

#include "ir/verify.h"
#include "tests/ir/build.h"

namespace tap::passes {
namespace {

using namespace tap::ir;
using namespace tap::ir::test;

TEST(CeilBlocks, SizesThatDoNotDivide) {
  EXPECT_EQ(ceil_blocks({0, 10}, 4), (std::vector<Range>{{0, 3}, {3, 6}, {6, 9}, {9, 10}}));
  EXPECT_EQ(ceil_blocks({2, 11}, 4), (std::vector<Range>{{2, 5}, {5, 8}, {8, 11}, {11, 11}}));
  EXPECT_EQ(ceil_blocks({0, 0}, 2), (std::vector<Range>{{0, 0}, {0, 0}}));
  EXPECT_EQ(ceil_blocks({0, 10}, 6).back(), (Range{10, 10}));  // trap 11: 2, 2, 2, 2, 2, 0
}

Program product() {
  Program program;
  Operator op = matrix_product(program, 4, 3, 5);
  BuildGraph g{program, {}};
  g.graph.name = "main";
  auto results = g.add(op, {g.input("x", f32, {4, 5}), g.input("w", f32, {5, 3})});
  program.main = g.finish(results);
  return program;
}

TEST(Split, OfSeveralDimsTilesTheDomain) {
  Program program = product();
  BlockProgram blocks = split(program, {{program.main, OperationId{0}, 0, {{0, 3}, {3, 4}}},
                                        {program.main, OperationId{0}, 1, {{0, 2}, {2, 2}, {2, 3}}}});
  const BlockOperation& operation = blocks.graphs[0].operations[0];
  ASSERT_EQ(operation.applications.size(), 6u);
  std::int64_t points = 0;
  for (std::size_t a = 0; a < 6; ++a) {
    points += operation.applications[a].box.size();
    for (std::size_t b = 0; b < a; ++b)
      EXPECT_TRUE(disjoint(operation.applications[a].box, operation.applications[b].box));
  }
  EXPECT_EQ(points, 4 * 3 * 5);
}

TEST(Split, OfAReductionAsText) {
  Program program = product();
  BlockProgram blocks =
      split(program, {{program.main, OperationId{0}, 2, ceil_blocks({0, 5}, 2), Placement::sequential}});
  EXPECT_EQ(print(blocks.program, blocks.graphs[0]),
            "block graph main (x: f32[4, 5], w: f32[5, 3]) -> (c: f32[4, 3])\n"
            "apply c (x: f32[4, 5], w: f32[5, 3]) -> (c.partial: f32[2, 4, 3])\n"
            "  split k into 0..3 3..5 over sequential, block number block\n"
            "  on [0..4, 0..3, 0..3, 0..1]\n"
            "  on [0..4, 0..3, 3..5, 1..2]\n"
            "apply c (c.partial: f32[2, 4, 3]) -> (c: f32[4, 3])\n"
            "  on [0..4, 0..3, 0..2]\n");
  EXPECT_EQ(verify(blocks.program), std::vector<std::string>{});
}

TEST(Split, OnlyInOrderWhereTheMonoidDoesNotCommute) {
  Program program;
  Build b("y");
  auto i = b.parallel("i", 2), k = b.reduction("k", 3), l = b.reduction("l", 3);
  auto x = b.operand(f32, {2, 3, 3});
  b.result(f32, {2}, {b[i]});
  MonoidId sum = add_monoid(program, "sum", f32);
  Operator op = b.reduce(sum, {b.read(x, {b[i], b[k], b[l]})});
  EXPECT_TRUE(can_split(program, op, i) && can_split(program, op, k) && can_split(program, op, l));
  program.monoids[sum.index()].laws.commutative = Law::broken;
  EXPECT_TRUE(can_split(program, op, i) && can_split(program, op, k));
  EXPECT_FALSE(can_split(program, op, l));
  op.dims[i].keep = true;
  EXPECT_FALSE(can_split(program, op, i));
}

}  // namespace
}  // namespace tap::passes
