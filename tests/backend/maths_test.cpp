// Native functions against the C library one precision up: within 2 units in the last place, right at the edges, and the
// same bits whatever the number of lanes. `bench_maths` tries more points (make campaign).
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <type_traits>

#include "backend/llvm/emit_arithmetic.h"
#include "backend/loops/may_fail.h"
#include "tests/backend/array_function.h"
#include "tests/backend/maths_oracle.h"
#include "tests/backend/maths_points.h"

namespace tap::backend::test {
namespace {

template <class T>
constexpr ElementType element = std::is_same_v<T, float> ? ElementType::f32 : ElementType::f64;

// Zeros, infinities, nan, the least and greatest of subnormal and normal numbers, and what functions turn at.
template <class T>
std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{0,
                        Limits::denorm_min(),
                        3 * Limits::denorm_min(),
                        Limits::min() - Limits::denorm_min(),
                        Limits::min(),
                        Limits::epsilon(),
                        T(0.25),
                        T(0.5),
                        1 - Limits::epsilon() / 2,
                        1,
                        1 + Limits::epsilon(),
                        T(1.5),
                        2,
                        3,
                        T(88.72),
                        T(709.78),
                        1e5,
                        T(3e9),
                        1 / Limits::epsilon(),
                        2 / Limits::epsilon() + 1,
                        Limits::max() / 2,
                        Limits::max(),
                        Limits::infinity()};
  for (std::size_t n = values.size(), k = 0; k < n; ++k) values.push_back(-values[k]);
  values.push_back(Limits::quiet_NaN());
  return values;
}

template <class T>
struct Arguments {
  std::vector<T> x, y;
};

// All edges (pairs of them for pow), then points at random; a multiple of 16.
template <class T>
Arguments<T> arguments(CellOp op, std::size_t count) {
  Arguments<T> a;
  for (T x : edges<T>())
    for (T y : op == CellOp::pow ? edges<T>() : std::vector<T>{0}) a.x.push_back(x), a.y.push_back(y);
  Points<T> points(op, 7);
  while (a.x.size() < count || a.x.size() % 16 != 0) {
    auto [x, y] = points.next();
    a.x.push_back(x), a.y.push_back(y);
  }
  return a;
}

template <class T>
std::vector<T> apply(const ArrayFunction& f, const Arguments<T>& a) {
  std::vector<T> result(a.x.size());
  f(a.x.data(), a.y.data(), result.data(), static_cast<std::int64_t>(result.size()));
  return result;
}

template <class T>
void expect_accurate(std::size_t count) {
  for (CellOp op : functions) {
    ArrayFunction f(op, element<T>, 64 / sizeof(T));
    EXPECT_TRUE(f.calls().empty()) << ir::info(op).name << " calls " << f.calls()[0];
    Arguments<T> a = arguments<T>(op, count);
    std::vector<T> got = apply(f, a);
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t k = 0; k < got.size(); ++k) {
      double error = ulps<T>(got[k], oracle<Wider<T>>(op, a.x[k], a.y[k]));
      if (error > worst) worst = error, at = k;
    }
    EXPECT_LE(worst, 2.0) << ir::info(op).name << "(" << a.x[at] << ", " << a.y[at] << ") is " << got[at] << ", not "
                          << oracle<Wider<T>>(op, a.x[at], a.y[at]);
  }
}

template <class T>
auto bits_of_number(T value) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(value);
}

template <class T>
void expect_same_bits_by_lanes(std::initializer_list<unsigned> lanes) {
  for (CellOp op : functions) {
    Arguments<T> a = arguments<T>(op, 4096);
    std::vector<T> by_one = apply(ArrayFunction(op, element<T>, 0), a);
    for (unsigned n : lanes) {
      std::vector<T> together = apply(ArrayFunction(op, element<T>, n), a);
      for (std::size_t k = 0; k < together.size(); ++k)
        ASSERT_TRUE(bits_of_number(by_one[k]) == bits_of_number(together[k]) ||
                    (std::isnan(by_one[k]) && std::isnan(together[k])))
            << ir::info(op).name << "(" << a.x[k] << ", " << a.y[k] << ") in " << n << " lanes is " << together[k]
            << ", alone " << by_one[k];
    }
  }
}

TEST(Maths, FloatsAreWithinTwoUlps) { expect_accurate<float>(200'000); }
TEST(Maths, DoublesAreWithinTwoUlps) { expect_accurate<double>(100'000); }
TEST(Maths, FloatsAreTheSameForAnyLaneCount) { expect_same_bits_by_lanes<float>({4, 16}); }
TEST(Maths, DoublesAreTheSameForAnyLaneCount) { expect_same_bits_by_lanes<double>({2, 8}); }

// f(x) for one x.
template <class T>
T value(CellOp op, T x, T y = 0) {
  T result = 0;
  ArrayFunction(op, element<T>, 0)(&x, &y, &result, 1);
  return result;
}

TEST(Maths, ExactValues) {
  EXPECT_EQ(value<float>(CellOp::exp, 0), 1);
  EXPECT_EQ(value<double>(CellOp::exp, 0), 1);
  EXPECT_EQ(value<float>(CellOp::log, 1), 0);
  EXPECT_EQ(value<double>(CellOp::log, 1), 0);
  EXPECT_EQ(value<float>(CellOp::sigmoid, 0), 0.5F);
  EXPECT_EQ(value<double>(CellOp::tanh, 30), 1);
  EXPECT_EQ(value<float>(CellOp::cos, 0), 1);
  EXPECT_EQ(value<double>(CellOp::cosh, 0), 1);
  EXPECT_EQ(value<double>(CellOp::acos, 1), 0);
  EXPECT_EQ(value<double>(CellOp::erf, 7), 1);
  ArrayFunction power(CellOp::pow, ElementType::f64, 0);
  for (double x : edges<double>()) {
    double one = 1, result = 0;
    power(&x, &one, &result, 1);
    EXPECT_TRUE(result == x || std::isnan(x)) << x;
  }
}

// Each takes its sign from its argument, so both halves have the same bits.
TEST(Maths, OddFunctionsAreBitwiseOdd) {
  for (CellOp op : functions) {
    if (!is_odd(op)) continue;
    Arguments<double> a = arguments<double>(op, 8192), b = a;
    for (double& x : b.x) x = -x;
    ArrayFunction f(op, ElementType::f64, 8);
    std::vector<double> up = apply(f, a), down = apply(f, b);
    for (std::size_t k = 0; k < up.size(); ++k)
      ASSERT_TRUE((std::isnan(up[k]) && std::isnan(down[k])) || (up[k] == -down[k]))
          << ir::info(op).name << "(" << a.x[k] << ")";
  }
}

// One path for all numbers: with one near zero and another elsewhere it had 51.
TEST(Maths, ErfOfFloatsIsShort) { EXPECT_LE(ArrayFunction(CellOp::erf, ElementType::f32, 16).instructions(), 45); }

// The double that comes closest to a multiple of π/2 (Kahan), and a huge one whose sine has another sign by any shortcut.
TEST(Maths, HugeArgumentsAreReducedExactly) {
  EXPECT_DOUBLE_EQ(value<double>(CellOp::cos, 0x1.6ac5b262ca1ffp+849), -4.68716592425462761e-19);
  EXPECT_DOUBLE_EQ(value<double>(CellOp::sin, 1e22), -0.8522008497671888);
  EXPECT_FLOAT_EQ(value<float>(CellOp::sin, 1e22F), static_cast<float>(std::sin(static_cast<double>(1e22F))));
}

// Any bytes, then what the operation made of them: by lanes as one by one.
void expect_lanes_agree(const ArrayFunction& one, const ArrayFunction& many, ElementType from, ElementType to,
                        const std::string& what) {
  constexpr std::size_t n = 512;
  std::mt19937_64 random(11);
  std::vector<unsigned char> x(n * size_of(from)), y(x.size()), alone(n * size_of(to)), together(alone.size());
  for (auto* bytes : {&x, &y})
    for (unsigned char& c : *bytes) c = static_cast<unsigned char>(is_bool(from) ? random() % 2 : random());
  one(x.data(), y.data(), alone.data(), n);
  many(x.data(), y.data(), together.data(), n);
  EXPECT_EQ(alone, together) << what;
}

TEST(Maths, VectorCastsMatchScalarCasts) {
  constexpr ElementType floats[] = {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16};
  constexpr ElementType others[] = {ElementType::i64, ElementType::i32, ElementType::i16,
                                    ElementType::i8,  ElementType::u8,  ElementType::boolean};
  auto check = [](ElementType from, ElementType to) {
    expect_lanes_agree(ArrayFunction::cast(from, to, 0), ArrayFunction::cast(from, to, 8), from, to,
                       std::string(info(from).name) + " to " + std::string(info(to).name));
  };
  for (ElementType a : floats) {
    for (ElementType b : floats) check(a, b);
    for (ElementType b : others) check(a, b), check(b, a);
  }
  check(ElementType::i64, ElementType::i8);
  check(ElementType::u8, ElementType::i32);
  check(ElementType::i16, ElementType::boolean);
}

TEST(Maths, VectorOpsMatchScalarOps) {
  for (ElementType type : {ElementType::f64, ElementType::i64, ElementType::i8, ElementType::u8, ElementType::boolean})
    for (std::size_t k = 0; k < static_cast<std::size_t>(CellOp::cast); ++k) {
      auto op = static_cast<CellOp>(k);
      if (!ir::is_strict(op) || !ir::accepts(ir::info(op).arguments, type)) continue;
      if (operation_may_fail(op, type, nullptr) || ir::info(op).kind == ir::CellKind::function) continue;
      bool to_bool = ir::info(op).result == ir::CellResult::boolean;
      expect_lanes_agree(ArrayFunction(op, type, 0), ArrayFunction(op, type, 8), type,
                         to_bool ? ElementType::boolean : type,
                         std::string(ir::info(op).name) + " of " + std::string(info(type).name));
    }
}

}  // namespace
}  // namespace tap::backend::test
