// The arithmetic of cells at its edges: wrapping, flooring, saturating, NaN, and what casts do.
#include "ir/interpret/interpret_number.h"

#include <gtest/gtest.h>

#include <cmath>

#include "build.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap::ir::test {
namespace {

using oracle::apply_cast;
using oracle::apply_float;
using oracle::apply_integer;

std::int64_t whole(CellOp op, ElementType type, std::int64_t a, std::int64_t b = 0) {
  return apply_integer(op, type, {.i = a}, {.i = b}).i;
}
double real(CellOp op, double a, double b = 0) { return apply_float(op, {.f = a}, {.f = b}).f; }
std::int64_t to_integer(double a, ElementType to) { return apply_cast(f64, to, {.f = a}).i; }

TEST(CellNumbers, IntegersWrapAtTheirType) {
  EXPECT_EQ(whole(CellOp::add, i8, 127, 1), -128);
  EXPECT_EQ(whole(CellOp::sub, u8, 0, 1), 255);
  EXPECT_EQ(whole(CellOp::mul, i32, 65536, 65536), 0);
  EXPECT_EQ(whole(CellOp::mul, i64, INT64_MAX, 2), -2);
  EXPECT_EQ(whole(CellOp::neg, i64, INT64_MIN), INT64_MIN);
  EXPECT_EQ(whole(CellOp::abs, i16, -32768), -32768);
  EXPECT_EQ(whole(CellOp::neg, u8, 1), 255);
}

TEST(CellNumbers, DivisionFloors) {
  // Python's // and % on the same numbers.
  EXPECT_EQ(whole(CellOp::div, i32, -7, 2), -4);
  EXPECT_EQ(whole(CellOp::mod, i32, -7, 2), 1);
  EXPECT_EQ(whole(CellOp::div, i32, 7, -2), -4);
  EXPECT_EQ(whole(CellOp::mod, i32, 7, -2), -1);
  EXPECT_EQ(whole(CellOp::div, i32, -8, 2), -4);
  EXPECT_EQ(whole(CellOp::mod, i32, -8, 2), 0);
  EXPECT_EQ(whole(CellOp::div, i8, -128, -1), -128);
  EXPECT_EQ(whole(CellOp::div, i64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(whole(CellOp::mod, i64, INT64_MIN, -1), 0);
  EXPECT_THROW(whole(CellOp::div, i64, 1, 0), oracle::CellFailure);
  EXPECT_THROW(whole(CellOp::mod, u8, 1, 0), oracle::CellFailure);
  EXPECT_EQ(real(CellOp::mod, -7, 2), 1);
  EXPECT_EQ(real(CellOp::mod, 7.5, -2), -0.5);
  EXPECT_TRUE(std::isnan(real(CellOp::mod, 1, 0)));
}

TEST(CellNumbers, Shifts) {
  EXPECT_EQ(whole(CellOp::shl, i32, 1, 31), INT32_MIN);
  EXPECT_EQ(whole(CellOp::shl, i32, 1, 32), 0);
  EXPECT_EQ(whole(CellOp::shl, u8, 255, 4), 240);
  EXPECT_EQ(whole(CellOp::shr, i32, -8, 1), -4);
  EXPECT_EQ(whole(CellOp::shr, i32, -8, 32), -1);
  EXPECT_EQ(whole(CellOp::shr, u8, 255, 8), 0);
  EXPECT_EQ(whole(CellOp::shl, i64, 1, 63), INT64_MIN);
  EXPECT_THROW(whole(CellOp::shl, i32, 1, -1), oracle::CellFailure);
  EXPECT_EQ(whole(CellOp::bitnot, u8, 1), 254);
  EXPECT_EQ(whole(CellOp::bitnot, i8, 1), -2);
}

TEST(CellNumbers, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(to_integer(2.9, i32), 2);
  EXPECT_EQ(to_integer(-2.9, i32), -2);
  EXPECT_EQ(to_integer(1e10, i32), INT32_MAX);
  EXPECT_EQ(to_integer(-1e10, i8), -128);
  EXPECT_EQ(to_integer(127.9, i8), 127);
  EXPECT_EQ(to_integer(-1, u8), 0);
  EXPECT_EQ(to_integer(inf, i64), INT64_MAX);
  EXPECT_EQ(to_integer(9.3e18, i64), INT64_MAX);
  EXPECT_EQ(to_integer(-inf, i64), INT64_MIN);
  EXPECT_EQ(to_integer(nan, i16), 0);
  EXPECT_EQ(to_integer(0.5, boolean), 1);
  EXPECT_EQ(to_integer(nan, boolean), 1);
}

TEST(CellNumbers, CastsRoundAndWrap) {
  EXPECT_EQ(apply_cast(f64, f32, {.f = 0.1}).f, static_cast<double>(0.1f));
  EXPECT_EQ(apply_cast(f64, f16, {.f = 1e6}).f, inf);
  EXPECT_EQ(apply_cast(f32, f16, {.f = 2049}).f, 2048);  // a tie goes to even
  EXPECT_EQ(apply_cast(i64, f32, {.i = 16777217}).f, 16777216);
  // Just above a tie of floats: by way of f64 it would become the tie, and round down.
  EXPECT_EQ(apply_cast(i64, f32, {.i = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1}).f, 0x1.000002p60);
  EXPECT_EQ(apply_cast(i64, i8, {.i = 300}).i, 44);
  EXPECT_EQ(apply_cast(i32, boolean, {.i = 256}).i, 1);
  EXPECT_EQ(apply_cast(boolean, f32, {.i = 1}).f, 1);
}

TEST(CellNumbers, Functions) {
  EXPECT_EQ(real(CellOp::round, 2.5), 2);
  EXPECT_EQ(real(CellOp::round, -1.5), -2);
  EXPECT_EQ(real(CellOp::round, 0.5), 0);
  EXPECT_TRUE(std::isnan(real(CellOp::sign, nan)));
  EXPECT_EQ(real(CellOp::sign, -3), -1);
  EXPECT_EQ(real(CellOp::sign, 0), 0);
  EXPECT_TRUE(std::isnan(real(CellOp::max, nan, 1)));
  EXPECT_TRUE(std::isnan(real(CellOp::min, 1, nan)));
  EXPECT_FALSE(std::signbit(real(CellOp::max, -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(real(CellOp::min, 0.0, -0.0)));
  EXPECT_EQ(real(CellOp::sigmoid, -1000), 0);
  EXPECT_EQ(real(CellOp::sigmoid, 1000), 1);
  EXPECT_DOUBLE_EQ(real(CellOp::sigmoid, -700), std::exp(-700));
  EXPECT_EQ(real(CellOp::rsqrt, 4), 0.5);
  EXPECT_EQ(apply_float(CellOp::equal, {.f = nan}, {.f = nan}).i, 0);
  EXPECT_EQ(apply_float(CellOp::not_equal, {.f = nan}, {.f = nan}).i, 1);
  EXPECT_EQ(apply_float(CellOp::less, {.f = nan}, {.f = 1}).i, 0);
  EXPECT_EQ(apply_float(CellOp::equal, {.f = -0.0}, {.f = 0.0}).i, 1);
}

TEST(CellNumbers, EveryStrictOperationIsKnown) {
  for (std::size_t k = 0; k < cell_op_count; ++k) {
    auto op = static_cast<CellOp>(k);
    if (!is_strict(op)) continue;
    CellArguments arguments = info(op).arguments;
    bool for_floats = accepts(arguments, f32), for_integers = accepts(arguments, i32) || accepts(arguments, boolean);
    if (for_floats) { EXPECT_NO_THROW(real(op, 0.5, 0.25)) << info(op).name; }
    if (for_integers) { EXPECT_NO_THROW(whole(op, i32, 5, 3)) << info(op).name; }
    if (!for_floats) { EXPECT_THROW(real(op, 0.5, 0.25), InternalError) << info(op).name; }
    if (!for_integers) { EXPECT_THROW(whole(op, i32, 5, 3), InternalError) << info(op).name; }
  }
}

// The narrow type rounds when the cell is written, and not before.
TEST(CellNumbers, NarrowFloatsRoundOnceAtTheCell) {
  Program program;
  Build b("y");
  b.operand(f16, {});
  b.result(f16, {}, {});
  b.result(f32, {}, {});
  CellId x = b.read(0, {}), one = b.literal(f16, 1);
  CellId sum = b.apply(CellOp::add, {x, one});  // 2048 + 1 is no f16
  CellId back = b.apply(CellOp::sub, {sum, x});
  auto r = evaluate(program, b.map({back, b.cast(sum, f32)}), {tensor(f16, {}, {2048})});
  EXPECT_EQ(r.outputs[0].load_f64(0), 1);
  EXPECT_EQ(r.outputs[1].load_f64(0), 2049);
}

TEST(CellNumbers, CastInsideACellRounds) {
  Program program;
  Build b("y");
  b.operand(f64, {});
  b.result(f64, {}, {});
  CellId narrow = b.cast(b.cast(b.read(0, {}), f32), f64);
  EXPECT_EQ(evaluate(program, b.map({narrow}), {tensor(f64, {}, {0.1})}).outputs[0].load_f64(0),
            static_cast<double>(0.1f));
}

}  // namespace
}  // namespace tap::ir::test
