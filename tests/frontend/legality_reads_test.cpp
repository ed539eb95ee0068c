// Reads on hand cases: the traps, the bad inputs, and the guards of the language's examples.
#include <isl/version.h>

#include "tests/frontend/legality_fixture.h"

namespace tap {
namespace {

using namespace testing;

class LegalityReads : public LegalityTest {};
INSTANTIATE_TEST_SUITE_P(ClosedFormsAndIsl, LegalityReads, ::testing::Bool(), method_name);

TEST(Isl, IsTheSystemLibraryNotLlvmsCopy) { EXPECT_STREQ(isl_version(), "isl-0.25-GMP\n"); }

TEST_P(LegalityReads, WindowsOfTheTraps) {
  EXPECT_FALSE(legality.check_reads(window(1, 0, 8, 10, 3)));  // trap 2
  EXPECT_FALSE(legality.check_reads(window(2, 0, 8, 17, 3)));  // trap 3
  EXPECT_FALSE(legality.check_reads(window(3, 0, 4, 11, 2)));  // trap 4: row 5 and others are never read
  EXPECT_FALSE(legality.check_reads(window(-1, 7, 8, 8)));     // trap 6
  auto bad = legality.check_reads(window(2, 0, 8, 16, 3));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{7, 2}));
  EXPECT_EQ(bad->cell, (Point{16}));
}

TEST_P(LegalityReads, MixedSignsAreNotJudgedByCorners) {  // trap 1
  B b;
  b.parallel(0, 4);
  b.parallel(0, 4);
  b.value(b.read({4}, {B::at({{0, 1}, {1, -1}})}));
  auto bad = legality.check_reads(b.build());
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{0, 1}));
  EXPECT_EQ(bad->cell, (Point{-1}));
}

TEST_P(LegalityReads, ReadOfANegativeIndexWithoutPadding) {  // B04
  auto bad = legality.check_reads(window(1, -1, 8, 8));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{0, 0}));
  EXPECT_EQ(bad->cell, (Point{-1}));
}

TEST_P(LegalityReads, ReadOfAnEmptyTensorAndOverAnEmptyRange) {  // trap 9, B12
  EXPECT_TRUE(legality.check_reads(window(1, 0, 1, 0)));
  EXPECT_FALSE(legality.check_reads(window(1, 5, 0, 0)));
}

TEST_P(LegalityReads, BoundedReadIsLegal) {
  B b;
  b.parallel(0, 8);
  ir::CellId x = b.read({8}, {B::at({{0, 1}}, -1)});
  b.last_read().fill = b.zero();
  b.value(x);
  EXPECT_FALSE(legality.check_reads(b.build()));
}

TEST_P(LegalityReads, FillIsEvaluatedOutsideOnly) {  // x[i-1 else z[i]], z of one cell
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

TEST_P(LegalityReads, OnlyDataDependentAxesAreCheckedAtRunTime) {  // table[ids[n], d + 1]
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

TEST_P(LegalityReads, ReadsInsideOfCoordinatesCount) {  // table[ids[n + 1]]
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

TEST_P(LegalityReads, GuardsCount) {
  Guarded g;  // if i > 0 and j < 7 then x else 0
  g.b.value(g.b.choose(g.b.both(g.i_positive(), g.j_not_last()), g.x, g.b.zero()));
  EXPECT_FALSE(legality.check_reads(g.b.build()));
}

TEST_P(LegalityReads, TheNegationOfADisjunctionGuards) {
  Guarded g;  // if not (i > 0) or j == 7 then 0 else x
  ir::CellId last = g.b.condition(ir::CellOp::equal, {g.b.index(g.j), g.b.number(7)});
  g.b.value(g.b.choose(g.b.either(g.b.opposite(g.i_positive()), last), g.b.zero(), g.x));
  EXPECT_FALSE(legality.check_reads(g.b.build()));
}

TEST_P(LegalityReads, TheNegationOfAConjunctionIsADisjunction) {
  Guarded g;  // if i > 0 and j < 7 then 0 else x
  g.b.value(g.b.choose(g.b.both(g.i_positive(), g.j_not_last()), g.b.zero(), g.x));
  auto bad = legality.check_reads(g.b.build());
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{0, 0}));
  EXPECT_EQ(bad->cell, (Point{-1, 1}));
}

TEST_P(LegalityReads, OneOfTwoGuardsIsNotSufficient) {
  Guarded g;
  g.b.value(g.b.choose(g.i_positive(), g.x, g.b.zero()));
  auto bad = legality.check_reads(g.b.build());
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{1, 7}));
  EXPECT_EQ(bad->cell, (Point{0, 8}));
}

TEST_P(LegalityReads, NonAffineConditionIsIgnored) {
  for (bool affine_too : {true, false}) {
    Guarded g;  // if i % 2 == 0 [and i > 0 and j < 7] then x else 0
    ir::CellId odd = g.b.apply(ir::CellOp::mod, ElementType::i64, {g.b.index(g.i), g.b.number(2)});
    ir::CellId condition = g.b.condition(ir::CellOp::equal, {odd, g.b.number(0)});
    if (affine_too) condition = g.b.both(condition, g.b.both(g.i_positive(), g.j_not_last()));
    g.b.value(g.b.choose(condition, g.x, g.b.zero()));
    EXPECT_EQ(legality.check_reads(g.b.build()).has_value(), !affine_too);
  }
}

TEST_P(LegalityReads,
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

TEST_P(LegalityReads,
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

TEST_P(LegalityReads, AndAndOrAreLazy) {  // i > 0 and x[i-1] < 0;  i == 0 or x[i-1] < 0;  i == 0 and x[i-1] < 0
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

TEST_P(LegalityReads, ConstraintsOfTheDomainCount) {  // y[i] = sum[k in 0..i+1] x[i - k]
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

TEST_P(LegalityReads, KernelRegionsAreReadEntirely) {  // smooth_rows without its `else`
  B b;
  auto i = b.parallel(0, 4);
  b.read({4, 5}, {B::at({{i, 1}}, -1), B::at({})}, {3, 5});
  b.body(ir::KernelBody{"smooth_rows", {}, {}});
  auto bad = legality.check_reads(b.build());
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->point, (Point{0}));
  EXPECT_EQ(bad->cell, (Point{-1, 0}));
}

}  // namespace
}  // namespace tap
