// Rows: what is in one, how they are written out, and what becomes one.
#include "ir/row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ir/block_graph.h"

namespace tap::ir {
namespace {

Application application(std::int64_t device, Box box, std::int64_t from, std::int64_t to, Row row = {}) {
  return {OperationId(3), device, std::move(box), {{HeldId(0), from}}, {{HeldId(1), to}}, std::move(row)};
}

TEST(Row, NumbersAdvanceByTheirStep) {
  const Row row{{2, {10, 0, 5, 0, 3}}, {3, {1, 8, 0, 0, 1}}};
  const Application first = application(7, {{{0, 1}, {0, 8}}}, 4, 0, row);
  EXPECT_EQ(count_of(row), 6);
  EXPECT_EQ(member(first, 0), application(7, {{{0, 1}, {0, 8}}}, 4, 0));
  EXPECT_EQ(member(first, 2), application(7, {{{2, 3}, {16, 24}}}, 4, 2));
  EXPECT_EQ(member(first, 4), application(12, {{{11, 12}, {8, 16}}}, 4, 4));
  EXPECT_EQ(members(first).size(), 6u);
  EXPECT_EQ(members(first)[5], member(first, 5));
  EXPECT_TRUE(is_across(row[0], 2));
  EXPECT_TRUE(is_across(row[1], 2));
  EXPECT_FALSE(is_across({3, {1, 8, 0, 0, 0}}, 2));
}

TEST(Row, UnrollAcrossSeparatesMemories) {
  const Level devices{2, {0, 0, 1, 1, 1}}, boxes{3, {1, 8, 0, 0, 0}};
  const Application first = application(0, {{{0, 1}, {0, 8}}}, 0, 0, {devices, boxes});
  EXPECT_EQ(unroll_across(first), (std::vector<Application>{application(0, {{{0, 1}, {0, 8}}}, 0, 0, {boxes}),
                                                            application(1, {{{0, 1}, {0, 8}}}, 1, 1, {boxes})}));
}

TEST(Row, StepsNeedEqualShapes) {
  const Application one = application(1, {{{0, 4}}}, 0, 2);
  EXPECT_EQ(step_between(one, application(3, {{{4, 8}}}, 0, 1)), (std::vector<std::int64_t>{4, 2, 0, -1}));
  EXPECT_EQ(step_between(one, one), std::vector<std::int64_t>(4, 0));
  EXPECT_FALSE(step_between(one, application(1, {{{4, 9}}}, 0, 2)));
  EXPECT_FALSE(step_between(one, application(1, {{{0, 4}, {0, 4}}}, 0, 2)));
  Application other = one;
  other.operands[0].id = HeldId(5);
  EXPECT_FALSE(step_between(one, other));
  other = one;
  other.row = {{2, {4, 0, 0, 0}}};
  EXPECT_FALSE(step_between(one, other));
  EXPECT_FALSE(step_between(Task(one), Task(Move{OperationId(3), HeldId(0), HeldId(1), {{{0, 4}}}, {}})));
}

TEST(Row, ConsecutiveTasks) {
  std::vector<Task> all;
  for (std::int64_t i = 0; i < 64; ++i)
    for (std::int64_t j = 0; j < 64; ++j) all.push_back(application(2, {{{i, i + 1}, {2 * j, 2 * j + 2}}}, 0, 0));
  all.push_back(application(2, {{{64, 65}, {0, 1}}}, 0, 0));
  const std::vector<Task> rows = in_rows(all);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(std::get<Application>(rows[0]).row, (Row{{64, {1, 0, 0, 0, 0}}, {64, {0, 2, 0, 0, 0}}}));
  EXPECT_EQ(one_by_one(rows), all);
}

// All blocks of two dims, of which both have a smaller last one: four rows.
TEST(Row, BlocksOfTwoDims) {
  Operator op;
  op.dims = {{"i", {0, 199}, DimRole::parallel}, {"j", {0, 20}, DimRole::parallel}};
  for (std::uint32_t d : {0u, 1u}) {
    const std::int64_t blocks = d == 0 ? 50 : 7;
    op.dims.push_back({d == 0 ? "ib" : "jb", {0, blocks}, DimRole::parallel});
    op.blockings.push_back({d, d + 2, {blocks}});
  }
  const std::vector<Task> rows = applications(op, {}, {OperationId(3), everywhere, op.box(), {}, {}});
  EXPECT_EQ(rows.size(), 4u);
  std::vector<Task> expected;
  for (Box& box : application_boxes(op, {2, 3}, op.box()))
    expected.emplace_back(Application{OperationId(3), everywhere, std::move(box), {}, {}});
  std::vector<Task> listed = one_by_one(rows);
  EXPECT_EQ(listed.size(), 350u);
  EXPECT_TRUE(std::is_permutation(listed.begin(), listed.end(), expected.begin(), expected.end()));
}

// Lists become rows where each is as far from the one before, all of it; whatever they are, nothing is lost.
TEST(Row, RowsAcrossLists) {
  auto list = [](std::int64_t n, std::int64_t size) {
    return std::vector<Task>{application(n, {{{4 * n, 4 * n + size}}}, n, n), application(n, {{{0, 1}}}, 0, n)};
  };
  const std::vector<Task> rows = in_rows_across<Task>({list(0, 4), list(1, 4), list(2, 4), list(3, 2)});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(std::get<Application>(rows[0]).row, (Row{{3, {4, 1, 1, 1}}}));
  EXPECT_EQ(std::get<Application>(rows[1]).row, (Row{{3, {0, 1, 0, 1}}}));
  EXPECT_EQ(rows[2], list(3, 2)[0]);
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Task> all;
    for (std::size_t n = 0; n < 12; ++n) {
      auto small = [&](int below) { return std::uniform_int_distribution<std::int64_t>(0, below)(random); };
      all.push_back(application(small(1), {{{small(2), 3}}}, small(1), small(1)));
    }
    EXPECT_EQ(one_by_one(in_rows(all)), all) << round;
  }
}

}  // namespace
}  // namespace tap::ir
