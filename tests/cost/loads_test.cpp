// What loads of vectors take in the first cache, against counts by hand.
#include <gtest/gtest.h>

#include "cost/work/few_steps.h"
#include "cost/work/line_crossings.h"
#include "cost/work/shared_loads.h"

namespace tap::cost {
namespace {

constexpr std::uint32_t i = 0, j = 1;

ir::AffineExpr plus(std::uint32_t variable, std::int64_t offset) {
  ir::AffineExpr expr = ir::AffineExpr::variable(2, variable);
  expr.offset = offset;
  return expr;
}

TEST(Loads, VectorsThatCrossLinesTakeMoreThanOneAccess) {
  const ir::TensorType even{ElementType::f32, {8, 64}}, odd{ElementType::f32, {8, 60}};
  const std::vector<Progress> rows{{i, 1, 8}};
  struct Case {
    std::int64_t di, dj;
    const ir::TensorType& type;
    std::int64_t width;
    double accesses;
  };
  for (const Case& c : {Case{0, 0, even, 64, 1}, Case{-1, 0, even, 64, 1}, Case{0, -1, even, 64, 1.7},
                        Case{0, 1, even, 32, 1.7}, Case{0, 8, even, 32, 1}, Case{0, 1, even, 16, 1.5},
                        // Rows of 240 bytes: one of four begins at a line.
                        Case{0, 0, odd, 64, 1.525}, Case{0, 0, odd, 16, 1}})
    EXPECT_DOUBLE_EQ(accesses_per_vector({plus(i, c.di), plus(j, c.dj)}, c.type, rows, c.width, 64), c.accesses)
        << c.di << ", " << c.dj << ", " << c.type.shape[1] << " columns, " << c.width << " bytes";
}

TEST(Loads, OfLanesAFewCellsApart) {
  const ir::TensorType narrow{ElementType::f32, {100, 3}}, wide{ElementType::f32, {8, 64}};
  auto times = [](std::int64_t by, std::uint32_t variable) {
    ir::AffineExpr expr = plus(variable, 5);
    expr.coefficients[variable] = by;
    return expr;
  };
  EXPECT_EQ(few_steps({plus(i, 0), plus(j, 0)}, narrow, i), 3);  // a column of rows of three
  EXPECT_EQ(few_steps({plus(i, 0), plus(j, 0)}, wide, i), 0);    // of rows of 64
  EXPECT_EQ(few_steps({plus(i, 0), plus(j, 0)}, wide, j), 0);    // neighbours
  EXPECT_EQ(few_steps({plus(i, 0), times(2, j)}, wide, j), 2);
  EXPECT_EQ(few_steps({plus(i, 0), times(-4, j)}, wide, j), 4);
  EXPECT_EQ(few_steps({plus(i, 0), times(5, j)}, wide, j), 0);
}

TEST(Loads, UnrolledRowsShareThem) {
  auto load = [](std::uint32_t tensor, std::int64_t di, std::int64_t dj) {
    backend::Load made{tensor, {}};
    made.at = {{plus(i, di)}, {plus(j, dj)}};
    return made;
  };
  const std::vector<backend::Load> own{load(0, -1, 0), load(0, 0, 0), load(0, 1, 0), load(0, 0, 1), load(1, 0, 0)};
  std::vector<const backend::Load*> loads;
  for (const backend::Load& l : own) loads.push_back(&l);
  // 4 rows: 6 + 4 of 16 vectors of the first tensor; the second is read once by each row.
  EXPECT_EQ(fractions_of_loads(loads, {{i, 1, 4}}), (std::vector<double>{0.625, 0.625, 0.625, 0.625, 1}));
  EXPECT_EQ(fractions_of_loads(loads, {}), std::vector<double>(5, 1));
  EXPECT_EQ(fractions_of_loads(loads, {{i, 3, 4}}), (std::vector<double>{1, 1, 1, 1, 1}));
  EXPECT_EQ(fractions_of_loads(loads, {{i, 1, 1000}}), std::vector<double>(5, 1));  // too many to count
}

TEST(Loads, WhereDataDecideNothingIsShared) {
  backend::Load first{0, {{plus(i, 0)}, {plus(j, 0)}}}, second{0, {{plus(i, 1)}, {plus(j, 0)}}};
  first.at[1].data = second.at[1].data = ir::CellId(0);
  EXPECT_EQ(fractions_of_loads({&first, &second}, {{i, 1, 4}}), (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace tap::cost
