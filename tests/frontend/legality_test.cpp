// Legality on hand cases: the traps, the bad inputs, and the guards of the language's examples. Each is decided twice, with
// closed forms and by isl alone.
#include "compiler/frontend/legality.h"

#include <gtest/gtest.h>
#include <isl/version.h>

#include "tests/frontend/build_operator.h"

namespace tap {
namespace {

using testing::OperatorBuilder;
using B = OperatorBuilder;
using ir::Point;

class LegalityTest : public ::testing::TestWithParam<bool> {
 protected:
  Legality legality{{GetParam()}};

  std::optional<Violation> writes(const Shape& shape, const std::vector<ir::Operator>& ops) {
    std::vector<Writer> writers;
    for (const ir::Operator& op : ops) writers.push_back({&op, 0});
    return legality.check_writes(shape, writers);
  }
};
INSTANTIATE_TEST_SUITE_P(ClosedFormsAndIsl, LegalityTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "closed_forms" : "isl_alone"; });

// An operator of the given dims that writes at these coordinates.
ir::Operator writer(const std::vector<ir::Range>& dims, const std::vector<ir::AffineExpr>& start, Shape region = {}) {
  B b;
  for (ir::Range r : dims) b.parallel(r.lo, r.hi);
  b.write({}, start, std::move(region));
  return b.build();
}

TEST(Isl, IsDebiansAndNotTheOneInsideLlvm) { EXPECT_STREQ(isl_version(), "isl-0.25-GMP\n"); }

// x[c*i + offset] for i in 0..n, x of `extent` cells.
ir::Operator window(std::int64_t c, std::int64_t offset, std::int64_t n, std::int64_t extent, std::int64_t taps = 1) {
  B b;
  b.parallel(0, n);
  b.parallel(0, taps);
  b.value(b.read({extent}, {B::at({{0, c}, {1, 1}}, offset)}));
  return b.build();
}

TEST_P(LegalityTest, WindowsOfTheTraps) {
  EXPECT_FALSE(legality.check_reads(window(1, 0, 8, 10, 3)));  // trap 2
  EXPECT_FALSE(legality.check_reads(window(2, 0, 8, 17, 3)));  // trap 3
  EXPECT_FALSE(legality.check_reads(window(3, 0, 4, 11, 2)));  // trap 4: row 5 and others are never read
  EXPECT_FALSE(legality.check_reads(window(-1, 7, 8, 8)));     // trap 6
  auto bad = legality.check_reads(window(2, 0, 8, 16, 3));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{7, 2}));
  EXPECT_EQ(bad->cell, (Point{16}));
}

TEST_P(LegalityTest, MixedSignsAreNotJudgedByCorners) {  // trap 1
  B b;
  b.parallel(0, 4);
  b.parallel(0, 4);
  b.value(b.read({4}, {B::at({{0, 1}, {1, -1}})}));
  auto bad = legality.check_reads(b.build());
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{0, 1}));
  EXPECT_EQ(bad->cell, (Point{-1}));
}

TEST_P(LegalityTest, ReadOfANegativeIndexWithoutPadding) {  // B04
  auto bad = legality.check_reads(window(1, -1, 8, 8));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{0, 0}));
  EXPECT_EQ(bad->cell, (Point{-1}));
}

TEST_P(LegalityTest, ReadOfAnEmptyTensorAndOverAnEmptyRange) {  // trap 9, B12
  EXPECT_TRUE(legality.check_reads(window(1, 0, 1, 0)));
  EXPECT_FALSE(legality.check_reads(window(1, 5, 0, 0)));
}

TEST_P(LegalityTest, AFilledReadIsLegal) {
  B b;
  b.parallel(0, 8);
  ir::CellId x = b.read({8}, {B::at({{0, 1}}, -1)});
  b.last_read().fill = b.zero();
  b.value(x);
  EXPECT_FALSE(legality.check_reads(b.build()));
}

TEST_P(LegalityTest, AFillIsEvaluatedOnlyOutside) {  // x[i-1 else z[i]], z of one cell
  B b;
  b.parallel(0, 8);
  ir::CellId z = b.read({1}, {B::at({{0, 1}})});
  ir::CellId x = b.read({8}, {B::at({{0, 1}}, -1)});
  b.last_read().fill = z;
  b.value(x);
  EXPECT_FALSE(legality.check_reads(b.build()));

  B c;
  c.parallel(0, 8);
  z = c.read({0}, {B::at({{0, 1}})});
  x = c.read({8}, {B::at({{0, 1}}, -1)});
  c.last_read().fill = z;
  c.value(x);
  auto bad = legality.check_reads(c.build());
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->read, 0u);
  EXPECT_EQ(bad->point, (Point{0}));
}

TEST_P(LegalityTest, DataDependentAxesAreLeftToRunTimeTheOthersAreNot) {  // table[ids[n], d + 1]
  for (std::int64_t shift : {0, 1}) {
    B b;
    auto n = b.parallel(0, 3), d = b.parallel(0, 4);
    ir::CellId id = b.apply(ir::CellOp::cast, ElementType::i64, {b.read({3}, {B::at({{n, 1}})})});
    ir::CellId row = b.read({9, 4}, {B::at({}), B::at({{d, 1}}, shift)}, {9, 1});
    b.last_read().coordinates = {id, std::nullopt};
    b.value(row);
    auto bad = legality.check_reads(b.build());
    EXPECT_EQ(bad.has_value(), shift == 1);
    if (bad) { EXPECT_EQ(bad->cell[1], 4); }
  }
}

TEST_P(LegalityTest, ReadsInsideOfCoordinatesCount) {  // table[ids[n + 1]]
  B b;
  auto n = b.parallel(0, 3);
  ir::CellId id = b.apply(ir::CellOp::cast, ElementType::i64, {b.read({3}, {B::at({{n, 1}}, 1)})});
  ir::CellId row = b.read({9}, {B::at({})}, {9});
  b.last_read().coordinates = {id};
  b.value(row);
  auto bad = legality.check_reads(b.build());
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->read, 0u);
  EXPECT_EQ(bad->point, (Point{2}));
}

struct Guarded {
  B b;
  std::uint32_t i, j;
  ir::CellId x;  // x[i - 1, j + 1] of [8, 8]
  Guarded() : i(b.parallel(0, 8)), j(b.parallel(0, 8)), x(b.read({8, 8}, {B::at({{i, 1}}, -1), B::at({{j, 1}}, 1)})) {}
  ir::CellId i_positive() { return b.less(b.number(0), b.index(i)); }
  ir::CellId j_not_last() { return b.less(b.index(j), b.number(7)); }
};

TEST_P(LegalityTest, GuardsCount) {
  Guarded g;  // if i > 0 and j < 7 then x else 0
  g.b.value(g.b.choose(g.b.both(g.i_positive(), g.j_not_last()), g.x, g.b.zero()));
  EXPECT_FALSE(legality.check_reads(g.b.build()));
}

TEST_P(LegalityTest, TheNegationOfADisjunctionGuards) {
  Guarded g;  // if not (i > 0) or j == 7 then 0 else x
  ir::CellId last = g.b.condition(ir::CellOp::equal, {g.b.index(g.j), g.b.number(7)});
  g.b.value(g.b.choose(g.b.either(g.b.opposite(g.i_positive()), last), g.b.zero(), g.x));
  EXPECT_FALSE(legality.check_reads(g.b.build()));
}

TEST_P(LegalityTest, TheNegationOfAConjunctionIsADisjunction) {
  Guarded g;  // if i > 0 and j < 7 then 0 else x
  g.b.value(g.b.choose(g.b.both(g.i_positive(), g.j_not_last()), g.b.zero(), g.x));
  auto bad = legality.check_reads(g.b.build());
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{0, 0}));
  EXPECT_EQ(bad->cell, (Point{-1, 1}));
}

TEST_P(LegalityTest, OneGuardIsNotBoth) {
  Guarded g;
  g.b.value(g.b.choose(g.i_positive(), g.x, g.b.zero()));
  auto bad = legality.check_reads(g.b.build());
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{1, 7}));
  EXPECT_EQ(bad->cell, (Point{0, 8}));
}

TEST_P(LegalityTest, ANonAffineConditionAddsNothingAndSpoilsNothing) {
  for (bool affine_too : {true, false}) {
    Guarded g;  // if i % 2 == 0 [and i > 0 and j < 7] then x else 0
    ir::CellId odd = g.b.apply(ir::CellOp::mod, ElementType::i64, {g.b.index(g.i), g.b.number(2)});
    ir::CellId condition = g.b.condition(ir::CellOp::equal, {odd, g.b.number(0)});
    if (affine_too) condition = g.b.both(condition, g.b.both(g.i_positive(), g.j_not_last()));
    g.b.value(g.b.choose(condition, g.x, g.b.zero()));
    EXPECT_EQ(legality.check_reads(g.b.build()).has_value(), !affine_too);
  }
}

TEST_P(LegalityTest,
       ADisequalityIsAUnion) {  // if i != 0 then (if i != 7 then x[i-1] + x[i+1]); the box around it is all of 0..8
  for (bool second : {true, false}) {
    B b;
    auto i = b.parallel(-1, 9);
    ir::CellId x = b.read({9}, {B::at({{i, 1}})});
    auto differs = [&](std::int64_t n) { return b.condition(ir::CellOp::not_equal, {b.index(i), b.number(n)}); };
    ir::CellId guarded = b.choose(differs(-1), x, b.zero());
    b.value(second ? b.choose(differs(4), guarded, b.zero()) : b.choose(differs(4), x, b.zero()));
    EXPECT_EQ(legality.check_reads(b.build()).has_value(), !second);
  }
}

TEST_P(LegalityTest,
       AReadThatIsSharedIsEvaluatedWhereAnyUseIs) {  // (if i > 0 then x[i-1] else 0) + (if i < 0 then x[i-1] else 0)
  for (std::int64_t bound : {0, 1}) {
    B b;
    auto i = b.parallel(0, 8);
    ir::CellId x = b.read({8}, {B::at({{i, 1}}, -1)});
    ir::CellId first = b.choose(b.less(b.number(0), b.index(i)), x, b.zero());
    b.value(b.plus(first, b.choose(b.less(b.index(i), b.number(bound)), x, b.zero())));
    EXPECT_EQ(legality.check_reads(b.build()).has_value(), bound == 1);
  }
}

TEST_P(LegalityTest, AndAndOrAreLazy) {  // i > 0 and x[i-1] < 0;  i == 0 or x[i-1] < 0;  i == 0 and x[i-1] < 0
  for (int form : {0, 1, 2}) {
    B b;
    auto i = b.parallel(0, 8);
    ir::CellId negative = b.less(b.read({8}, {B::at({{i, 1}}, -1)}), b.zero());
    ir::CellId first = b.condition(ir::CellOp::equal, {b.index(i), b.number(0)});
    if (form == 0) b.value(b.both(b.less(b.number(0), b.index(i)), negative));
    if (form == 1) b.value(b.either(first, negative));
    if (form == 2) b.value(b.both(first, negative));
    EXPECT_EQ(legality.check_reads(b.build()).has_value(), form == 2);
  }
}

TEST_P(LegalityTest, ConstraintsOfTheDomainCount) {  // y[i] = sum[k in 0..i+1] x[i - k]
  for (bool constrained : {true, false}) {
    B b;
    auto i = b.parallel(0, 8), k = b.reduction(0, 8);
    if (constrained) b.at_least_zero(B::at({{i, 1}, {k, -1}}));
    ir::CellId x = b.read({8}, {B::at({{i, 1}, {k, -1}})});
    b.body(ir::ReduceBody{ir::MonoidId(0), {x}});
    auto bad = legality.check_reads(b.build());
    EXPECT_EQ(bad.has_value(), !constrained);
    if (bad) { EXPECT_EQ(bad->point, (Point{0, 1})); }
  }
}

TEST_P(LegalityTest, KernelRegionsAreReadWhole) {  // smooth_rows without its `else`
  B b;
  auto i = b.parallel(0, 4);
  b.read({4, 5}, {B::at({{i, 1}}, -1), B::at({})}, {3, 5});
  b.body(ir::KernelBody{"smooth_rows", {}, {}});
  auto bad = legality.check_reads(b.build());
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{0}));
  EXPECT_EQ(bad->cell, (Point{-1, 0}));
}

TEST_P(LegalityTest, EmptyDomains) {
  for (std::int64_t sum : {6, 7}) {  // i + j >= sum in 0..4 x 0..4
    B b;
    auto i = b.parallel(0, 4), j = b.parallel(0, 4);
    b.at_least_zero(B::at({{i, 1}, {j, 1}}, -sum));
    EXPECT_EQ(legality.empty_domain(b.build()), sum == 7);
  }
  B b;
  auto i = b.parallel(0, 4);
  b.equal_zero(B::at({{i, 2}}, -3));
  EXPECT_TRUE(legality.empty_domain(b.build()));
  EXPECT_FALSE(legality.empty_domain(B().build()));
}

TEST_P(LegalityTest, WritesOfTheLanguagesExamples) {
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

TEST_P(LegalityTest, NothingToWrite) {
  EXPECT_FALSE(writes({0, 3}, {writer({{0, 0}, {0, 3}}, {B::at({{0, 1}}), B::at({{1, 1}})})}));
  EXPECT_FALSE(writes({0}, {}));
  auto bad = writes({2}, {});
  ASSERT_TRUE(bad);
  EXPECT_EQ(std::get<NeverWritten>(*bad).cell, (Point{0}));
}

TEST_P(LegalityTest, TheIndexOfAReductionDoesNotWrite) {  // trap 8
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

TEST_P(LegalityTest, EqualTotalsProveNothing) {  // trap 7: [0,2), [0,2) of [0,4)
  auto bad = writes({4}, {writer({{0, 2}}, {B::at({{0, 1}})}), writer({{0, 2}}, {B::at({{0, 1}})})});
  ASSERT_TRUE(bad);
  auto twice = std::get<WrittenTwice>(*bad);
  EXPECT_EQ(twice.first, 0u);
  EXPECT_EQ(twice.second, 1u);
  EXPECT_EQ(twice.cell, (Point{0}));
}

TEST_P(LegalityTest, OverlapWithinOneWriter) {  // B05: y[2*i + r] for r in 0..3
  auto bad = writes({11}, {writer({{0, 5}, {0, 3}}, {B::at({{0, 2}, {1, 1}})})});
  ASSERT_TRUE(bad);
  auto twice = std::get<WrittenTwice>(*bad);
  EXPECT_EQ(twice.first_point, (Point{0, 2}));
  EXPECT_EQ(twice.second_point, (Point{1, 0}));
  EXPECT_EQ(twice.cell, (Point{2}));
}

TEST_P(LegalityTest, Holes) {  // B06
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

TEST_P(LegalityTest, WriteOutside) {
  auto bad = writes({8}, {writer({{0, 8}}, {B::at({{0, 1}})}), writer({{3, 6}}, {B::at({{0, -2}}, 9)})});
  ASSERT_TRUE(bad);
  auto outside = std::get<WriteOutside>(*bad);
  EXPECT_EQ(outside.writer, 1u);
  EXPECT_EQ(outside.point, (Point{5}));
  EXPECT_EQ(outside.cell, (Point{-1}));
}

TEST_P(LegalityTest, TwoWritersWithAGap) {  // B07
  auto bad = writes({4, 4}, {writer({{0, 4}, {0, 2}}, {B::at({{0, 1}}), B::at({{1, 1}})}),
                             writer({{0, 4}, {0, 1}}, {B::at({{0, 1}}), B::at({{1, 1}}, 3)})});
  ASSERT_TRUE(bad);
  EXPECT_EQ(std::get<NeverWritten>(*bad).cell, (Point{0, 2}));
}

TEST_P(LegalityTest, Triangles) {  // L[i, j] for j <= i, and 0 for j > i
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

TEST_P(LegalityTest, InvariantDimsCountOnce) {
  for (std::int64_t n : {3, 0}) {
    B b;
    auto i = b.parallel(0, 4), j = b.parallel(0, n);
    b.write({4}, {B::at({{i, 1}})});
    b.last_write().invariant_dims = {j};
    auto bad = writes({4}, {b.build()});
    EXPECT_EQ(bad.has_value(), n == 0);  // no point at all: nothing is written
  }
}

TEST_P(LegalityTest, CountersAreFixedPerTrip) {
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

TEST_P(LegalityTest, CountersSplitAValueBetweenTwoWriters) {  // y[i] for i < t, y[i] for i >= t
  for (std::uint32_t level : {0u, 1u}) {
    B before, behind;
    for (B* b : {&before, &behind}) {
      b->parallel(0, 4);
      b->counter(0, 3, b == &before ? 0 : level);
      b->write({4}, {B::at({{0, 1}})});
    }
    before.at_least_zero(B::at({{1, 1}, {0, -1}}, -1));
    behind.at_least_zero(B::at({{0, 1}, {1, -1}}));
    EXPECT_EQ(writes({4}, {before.build(), behind.build()}).has_value(), level == 1);
  }
}

TEST_P(LegalityTest, KernelRegionsPartition) {
  EXPECT_FALSE(writes({6, 5}, {writer({{0, 3}}, {B::at({{0, 2}}), B::at({})}, {2, 5})}));
  auto overlap = writes({5, 5}, {writer({{0, 3}}, {B::at({{0, 1}}), B::at({})}, {3, 5})});
  ASSERT_TRUE(overlap);
  EXPECT_EQ(std::get<WrittenTwice>(*overlap).cell, (Point{1, 0}));
  auto gap = writes({8, 5}, {writer({{0, 3}}, {B::at({{0, 3}}), B::at({})}, {2, 5})});
  ASSERT_TRUE(gap);
  EXPECT_EQ(std::get<NeverWritten>(*gap).cell, (Point{2, 0}));
  EXPECT_FALSE(writes({0, 5}, {writer({{0, 3}}, {B::at({{0, 2}}), B::at({})}, {0, 5})}));
}

TEST_P(LegalityTest, HugeSizes) {  // B13: nothing is enumerated
  std::int64_t n = std::int64_t{1} << 62;
  EXPECT_FALSE(writes({n}, {writer({{0, n}}, {B::at({{0, 1}})})}));
  EXPECT_FALSE(writes({n, n}, {writer({{0, n}, {0, n}}, {B::at({{0, 1}}), B::at({{1, 1}})})}));
  EXPECT_FALSE(writes({n}, {writer({{0, n / 2}, {0, 2}}, {B::at({{0, 2}, {1, 1}})})}));
  auto bad = writes({n}, {writer({{0, n - 1}}, {B::at({{0, 1}})})});
  ASSERT_TRUE(bad);
  EXPECT_EQ(std::get<NeverWritten>(*bad).cell, (Point{n - 1}));
}

TEST(LegalityCache, AnswersAgainWithoutIsl) {
  Legality legality;
  for (int time = 0; time < 3; ++time) {
    ir::Operator op = window(1, -1, 8, 8);
    op.name = "under another name " + std::to_string(time);
    EXPECT_TRUE(legality.check_reads(op));
    ir::Operator twice = writer({{0, 3}, {0, 2}}, {B::at({{0, 1}})});
    EXPECT_TRUE(legality.check_writes({3}, {{&twice, 0}}));
  }
  EXPECT_EQ(legality.statistics().asked, 6u);
  EXPECT_EQ(legality.statistics().by_isl, 2u);
  EXPECT_EQ(legality.statistics().cached, 4u);
}

TEST(LegalityClosedForms, ProveTheCommonCasesAlone) {
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
