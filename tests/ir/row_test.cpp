// Rows of boxes: what the next box may be, and where each one is.
#include "ir/row.h"

#include <gtest/gtest.h>

#include "ir/block_graph.h"

namespace tap::ir {
namespace {

TEST(Row, GoesOnWhereTheBoxBeforeEnds) {
  const Box first{{{0, 1}, {0, 8}, {3, 5}}};
  Row row;
  EXPECT_EQ(row.at(first, 0), first);
  ASSERT_TRUE(row.add(first, {{{1, 2}, {8, 16}, {3, 5}}}));
  ASSERT_TRUE(row.add(first, {{{2, 3}, {16, 24}, {3, 5}}}));
  EXPECT_EQ(row, (Row{3, {0, 1}}));
  EXPECT_EQ(row.at(first, 2), (Box{{{2, 3}, {16, 24}, {3, 5}}}));
}

TEST(Row, HasNoOtherNext) {
  const Box first{{{0, 1}, {0, 8}}};
  Row row;
  for (const Box& other : {first, Box{{{2, 3}, {8, 16}}}, Box{{{1, 2}, {8, 15}}}, Box{{{1, 2}, {4, 12}}}, Box{{{1, 2}}},
                           Box{{{-1, 0}, {0, 8}}}, Box{{{1, 1}, {0, 8}}}})
    EXPECT_FALSE(row.add(first, other)) << to_string(other);
  EXPECT_EQ(row, Row());
  ASSERT_TRUE(row.add(first, {{{0, 1}, {8, 16}}}));
  EXPECT_FALSE(row.add(first, {{{1, 2}, {16, 24}}}));
  EXPECT_FALSE(row.add(first, {{{0, 1}, {24, 32}}}));
  EXPECT_TRUE(row.add(first, {{{0, 1}, {16, 24}}}));
  const Box empty{{{4, 4}}};
  EXPECT_FALSE(Row().add(empty, {{{4, 4}}}));
}

// Applications in rows are, one by one, those that were added.
TEST(Row, OfApplications) {
  const Application common{OperationId(3), 2, {}, {HeldId(0)}, {HeldId(1)}};
  const std::vector<Box> boxes{{{{0, 1}, {0, 4}}}, {{{1, 2}, {4, 8}}}, {{{2, 3}, {8, 10}}}, {{{4, 5}, {10, 12}}}};
  std::vector<Task> tasks;
  add_applications(common, boxes, tasks);
  EXPECT_EQ(tasks.size(), 3u);
  EXPECT_EQ(std::get<Application>(tasks[0]).row, (Row{2, {0, 1}}));
  std::vector<Task> wanted;
  for (const Box& box : boxes)
    wanted.emplace_back(Application{common.operation, 2, box, common.operands, common.results});
  EXPECT_EQ(one_by_one(tasks), wanted);
}

}  // namespace
}  // namespace tap::ir
