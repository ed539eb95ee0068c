// Writes on hand cases: the traps, the bad inputs, and what is decided without isl.
#include "tests/frontend/legality_fixture.h"

namespace tap {
namespace {

using namespace testing;

class LegalityWrites : public LegalityTest {};
INSTANTIATE_TEST_SUITE_P(ClosedFormsAndIsl, LegalityWrites, ::testing::Bool(), method_name);

TEST_P(LegalityWrites, ExamplesOfTheLanguageReference) {
  EXPECT_FALSE(writes({}, {writer({}, {})}));
  EXPECT_FALSE(writes({4, 5}, {writer({{0, 5}, {0, 4}}, {B::at({{1, 1}}), B::at({{0, 1}})})}));
  EXPECT_FALSE(writes({8}, {writer({{0, 8}}, {B::at({{0, -1}}, 7)})}));  // reverse
  EXPECT_FALSE(writes({9}, {writer({{0, 4}}, {B::at({{0, 1}})}), writer({{0, 5}}, {B::at({{0, 1}}, 4)})}));
  EXPECT_FALSE(writes({10}, {writer({{0, 5}, {0, 2}}, {B::at({{0, 2}, {1, 1}})})}));  // repeat
  EXPECT_FALSE(writes({12}, {writer({{0, 3}, {0, 4}}, {B::at({{0, 4}, {1, 1}})})}));  // flatten
  EXPECT_FALSE(writes({2, 6, 3}, {writer({{0, 2}, {0, 3}, {0, 2}, {0, 3}},            // grouped convolution
                                         {B::at({{0, 1}}), B::at({{1, 2}, {2, 1}}), B::at({{3, 1}})})}));
  EXPECT_FALSE(
      writes({8}, {writer({{0, 4}}, {B::at({{0, 2}})}), writer({{0, 4}}, {B::at({{0, 2}}, 1)})}));  // interleave
}

TEST_P(LegalityWrites, NothingToWrite) {
  EXPECT_FALSE(writes({0, 3}, {writer({{0, 0}, {0, 3}}, {B::at({{0, 1}}), B::at({{1, 1}})})}));
  EXPECT_FALSE(writes({0}, {}));
  auto bad = writes({2}, {});
  ASSERT_TRUE(bad);
  EXPECT_EQ(std::get<NeverWritten>(*bad).cell, (Point{0}));
}

TEST_P(LegalityWrites, TheIndexOfAReductionDoesNotWrite) {  // trap 8
  B b;
  auto i = b.parallel(0, 3), j = b.reduction(0, 0);
  b.at_least_zero(B::at({{i, 1}, {j, -1}}));
  b.write({3}, {B::at({{i, 1}})});
  EXPECT_FALSE(writes({3}, {b.build()}));

  auto bad = writes({3}, {writer({{0, 3}, {0, 2}}, {B::at({{0, 1}})})});
  ASSERT_TRUE(bad);
  auto twice = std::get<WrittenTwice>(*bad);
  EXPECT_EQ(twice.first_point, (Point{0, 0}));
  EXPECT_EQ(twice.second_point, (Point{0, 1}));
  EXPECT_EQ(twice.cell, (Point{0}));
}

TEST_P(LegalityWrites, EqualTotalsProveNothing) {  // trap 7: [0,2), [0,2) of [0,4)
  auto bad = writes({4}, {writer({{0, 2}}, {B::at({{0, 1}})}), writer({{0, 2}}, {B::at({{0, 1}})})});
  ASSERT_TRUE(bad);
  auto twice = std::get<WrittenTwice>(*bad);
  EXPECT_EQ(twice.first, 0u);
  EXPECT_EQ(twice.second, 1u);
  EXPECT_EQ(twice.cell, (Point{0}));
}

TEST_P(LegalityWrites, OverlapWithinOneWriter) {  // B05: y[2*i + r] for r in 0..3
  auto bad = writes({11}, {writer({{0, 5}, {0, 3}}, {B::at({{0, 2}, {1, 1}})})});
  ASSERT_TRUE(bad);
  auto twice = std::get<WrittenTwice>(*bad);
  EXPECT_EQ(twice.first_point, (Point{0, 2}));
  EXPECT_EQ(twice.second_point, (Point{1, 0}));
  EXPECT_EQ(twice.cell, (Point{2}));
}

TEST_P(LegalityWrites, Holes) {  // B06
  auto stride = writes({8}, {writer({{0, 4}}, {B::at({{0, 2}})})});
  ASSERT_TRUE(stride);
  EXPECT_EQ(std::get<NeverWritten>(*stride).cell, (Point{1}));
  auto last = writes({8}, {writer({{0, 7}}, {B::at({{0, 1}})})});
  ASSERT_TRUE(last);
  EXPECT_EQ(std::get<NeverWritten>(*last).cell, (Point{7}));
  auto diagonal = writes({4, 4}, {writer({{0, 4}}, {B::at({{0, 1}}), B::at({{0, 1}})})});
  ASSERT_TRUE(diagonal);
  EXPECT_EQ(std::get<NeverWritten>(*diagonal).cell, (Point{0, 1}));
}

TEST_P(LegalityWrites, WriteOutside) {
  auto bad = writes({8}, {writer({{0, 8}}, {B::at({{0, 1}})}), writer({{3, 6}}, {B::at({{0, -2}}, 9)})});
  ASSERT_TRUE(bad);
  auto outside = std::get<WriteOutside>(*bad);
  EXPECT_EQ(outside.writer, 1u);
  EXPECT_EQ(outside.point, (Point{5}));
  EXPECT_EQ(outside.cell, (Point{-1}));
}

TEST_P(LegalityWrites, TwoWritersWithAGap) {  // B07
  auto bad = writes({4, 4}, {writer({{0, 4}, {0, 2}}, {B::at({{0, 1}}), B::at({{1, 1}})}),
                             writer({{0, 4}, {0, 1}}, {B::at({{0, 1}}), B::at({{1, 1}}, 3)})});
  ASSERT_TRUE(bad);
  EXPECT_EQ(std::get<NeverWritten>(*bad).cell, (Point{0, 2}));
}

TEST_P(LegalityWrites, Triangles) {  // L[i, j] for j <= i, and 0 for j > i
  for (std::int64_t shift : {0, 1, -1}) {
    B lower, upper;
    for (B* b : {&lower, &upper}) {
      b->parallel(0, 5);
      b->parallel(0, 5);
      b->write({5, 5}, {B::at({{0, 1}}), B::at({{1, 1}})});
    }
    lower.at_least_zero(B::at({{0, 1}, {1, -1}}));
    upper.at_least_zero(B::at({{1, 1}, {0, -1}}, shift - 1));
    auto bad = writes({5, 5}, {lower.build(), upper.build()});
    EXPECT_EQ(bad.has_value(), shift != 0);
    if (shift == 1) { EXPECT_EQ(std::get<WrittenTwice>(*bad).cell, (Point{0, 0})); }
    if (shift == -1) { EXPECT_EQ(std::get<NeverWritten>(*bad).cell, (Point{0, 1})); }
  }
}

TEST_P(LegalityWrites, InvariantDimsCountOnce) {
  for (std::int64_t n : {3, 0}) {
    B b;
    auto i = b.parallel(0, 4), j = b.parallel(0, n);
    b.write({4}, {B::at({{i, 1}})});
    b.last_write().invariant_dims = {j};
    auto bad = writes({4}, {b.build()});
    EXPECT_EQ(bad.has_value(), n == 0);  // no point at all: nothing is written
  }
}

TEST_P(LegalityWrites, CountersAreFixedPerTrip) {
  for (std::int64_t trips : {3, 0}) {
    B same;  // y[i] in every trip t
    same.parallel(0, 4);
    same.counter(0, trips);
    same.write({4}, {B::at({{0, 1}})});
    EXPECT_FALSE(writes({4}, {same.build()}));

    B moving;  // y[i + t]
    moving.parallel(0, 4);
    moving.counter(0, trips);
    moving.write({4}, {B::at({{0, 1}, {1, 1}})});
    auto bad = writes({4}, {moving.build()});
    EXPECT_EQ(bad.has_value(), trips == 3);
    if (bad) { EXPECT_EQ(std::get<WriteOutside>(*bad).point, (Point{2, 2})); }
  }
}

TEST_P(LegalityWrites, HoleIsReportedWithItsTrip) {  // y[i] for i < 4 - t: the last cells of later trips
  B b;
  b.parallel(0, 4);
  b.counter(0, 3, 1);
  b.write({4}, {B::at({{0, 1}})});
  b.at_least_zero(B::at({{0, -1}, {1, -1}}, 3));
  auto bad = writes({4}, {b.build()});
  ASSERT_TRUE(bad);
  EXPECT_EQ(std::get<NeverWritten>(*bad).cell, (Point{2}));
  using Trip = std::vector<std::pair<std::uint32_t, std::int64_t>>;
  EXPECT_EQ(std::get<NeverWritten>(*bad).trip, (Trip{{1, 2}}));
}

TEST_P(LegalityWrites, CountersPartitionAValueBetweenTwoWriters) {  // y[i] for i < t, y[i] for i >= t
  for (std::uint32_t level : {0u, 1u}) {
    B before, after;
    for (B* b : {&before, &after}) {
      b->parallel(0, 4);
      b->counter(0, 3, b == &before ? 0 : level);
      b->write({4}, {B::at({{0, 1}})});
    }
    before.at_least_zero(B::at({{1, 1}, {0, -1}}, -1));
    after.at_least_zero(B::at({{0, 1}, {1, -1}}));
    EXPECT_EQ(writes({4}, {before.build(), after.build()}).has_value(), level == 1);
  }
}

TEST_P(LegalityWrites, KernelRegionsPartition) {
  EXPECT_FALSE(writes({6, 5}, {writer({{0, 3}}, {B::at({{0, 2}}), B::at({})}, {2, 5})}));
  auto overlap = writes({5, 5}, {writer({{0, 3}}, {B::at({{0, 1}}), B::at({})}, {3, 5})});
  ASSERT_TRUE(overlap);
  EXPECT_EQ(std::get<WrittenTwice>(*overlap).cell, (Point{1, 0}));
  auto gap = writes({8, 5}, {writer({{0, 3}}, {B::at({{0, 3}}), B::at({})}, {2, 5})});
  ASSERT_TRUE(gap);
  EXPECT_EQ(std::get<NeverWritten>(*gap).cell, (Point{2, 0}));
  EXPECT_FALSE(writes({0, 5}, {writer({{0, 3}}, {B::at({{0, 2}}), B::at({})}, {0, 5})}));
}

TEST_P(LegalityWrites, HugeSizes) {  // B13: nothing is enumerated
  std::int64_t n = std::int64_t{1} << 62;
  EXPECT_FALSE(writes({n}, {writer({{0, n}}, {B::at({{0, 1}})})}));
  EXPECT_FALSE(writes({n, n}, {writer({{0, n}, {0, n}}, {B::at({{0, 1}}), B::at({{1, 1}})})}));
  EXPECT_FALSE(writes({n}, {writer({{0, n / 2}, {0, 2}}, {B::at({{0, 2}, {1, 1}})})}));
  auto bad = writes({n}, {writer({{0, n - 1}}, {B::at({{0, 1}})})});
  ASSERT_TRUE(bad);
  EXPECT_EQ(std::get<NeverWritten>(*bad).cell, (Point{n - 1}));
}

TEST(LegalityCache, RepeatedQueriesDoNotUseIsl) {
  Legality legality;
  for (int time = 0; time < 3; ++time) {
    ir::Operator op = window(1, -1, 8, 8);
    op.name = "under another name " + std::to_string(time);
    EXPECT_TRUE(legality.check_reads(op));
    ir::Operator twice = writer({{0, 3}, {0, 2}}, {B::at({{0, 1}})});
    EXPECT_TRUE(legality.check_writes({3}, {{&twice, 0}}));
  }
  EXPECT_EQ(legality.statistics().queries, 6u);
  EXPECT_EQ(legality.statistics().by_isl, 2u);
  EXPECT_EQ(legality.statistics().cached, 4u);
}

TEST(LegalityClosedForms, ProveCommonCasesWithoutIsl) {
  Legality legality;
  std::vector<ir::Operator> ops = {
      writer({{0, 4}, {0, 5}}, {B::at({{1, 1}}), B::at({{0, 1}})}),
      writer({{0, 5}, {0, 4}}, {B::at({{0, 4}, {1, 1}})}),
      writer({{0, 20}}, {B::at({{0, -1}}, 19)}),
      writer({{0, 5}}, {B::at({{0, 1}})}),
      writer({{0, 15}}, {B::at({{0, 1}}, 5)}),
  };
  EXPECT_FALSE(legality.check_writes({5, 4}, {{&ops[0], 0}}));
  EXPECT_FALSE(legality.check_writes({20}, {{&ops[1], 0}}));
  EXPECT_FALSE(legality.check_writes({20}, {{&ops[2], 0}}));
  EXPECT_FALSE(legality.check_writes({20}, {{&ops[3], 0}, {&ops[4], 0}}));
  Guarded g;
  g.b.value(g.b.choose(g.b.both(g.i_positive(), g.j_not_last()), g.x, g.b.zero()));
  EXPECT_FALSE(legality.check_reads(g.b.build()));
  EXPECT_EQ(legality.statistics().closed_form, 5u);
  EXPECT_EQ(legality.statistics().by_isl, 0u);
}

}  // namespace
}  // namespace tap
