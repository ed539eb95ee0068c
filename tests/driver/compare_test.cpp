#include "compiler/driver/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

namespace tap::driver {
namespace {

Tensor floats(std::vector<double> values) {
  Tensor tensor(ElementType::f64, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) tensor.store_f64(static_cast<std::int64_t>(i), values[i]);
  return tensor;
}

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Compare, WithinTolerance) {
  EXPECT_FALSE(compare({"Y", floats({1, 2, 1000})}, floats({1, 2, 1000.009}), {}));
  EXPECT_TRUE(compare({"Y", floats({1, 2, 1000})}, floats({1, 2, 1000.02}), {}));
  EXPECT_FALSE(compare({"Y", floats({1, 2})}, floats({1.5, 2}), {.relative = 0, .absolute = 0.5}));
  EXPECT_TRUE(compare({"Y", floats({1, 2})}, floats({1.5, 2}), {.relative = 0, .absolute = 0.4}));
}

TEST(Compare, EveryTypeHasItsTolerance) {
  auto one = [](ElementType type, double value) {
    Tensor tensor(type, {1});
    tensor.store_f64(0, value);
    return tensor;
  };
  for (auto [type, within, beyond] : {std::tuple{ElementType::f64, 0.9e-8, 1.1e-8},
                                      {ElementType::f32, 0.9e-6, 1.1e-6},
                                      {ElementType::f16, 0.9e-3, 1.1e-3},
                                      {ElementType::bf16, 0.9e-2, 1.1e-2}}) {
    EXPECT_FALSE(compare({"Y", one(type, within)}, one(type, 0), {})) << name_of(type);
    EXPECT_TRUE(compare({"Y", one(type, beyond)}, one(type, 0), {})) << name_of(type);
    EXPECT_TRUE(compare({"Y", one(type, within)}, one(type, 0), {.relative = {}, .absolute = 0})) << name_of(type);
  }
}

TEST(Compare, NanAndInfinity) {
  EXPECT_FALSE(compare({"Y", floats({std::nan(""), inf, -inf, 0.0})}, floats({std::nan(""), inf, -inf, -0.0}), {}));
  EXPECT_TRUE(compare({"Y", floats({inf})}, floats({-inf}), {}));
  EXPECT_TRUE(compare({"Y", floats({1})}, floats({std::nan("")}), {}));
  EXPECT_TRUE(compare({"Y", floats({1e300})}, floats({inf}), {.relative = 1, .absolute = 1}));
}

TEST(Compare, ReportsCountAndFirstDifference) {
  Tensor got(ElementType::i32, {2, 3}), expected(ElementType::i32, {2, 3});
  got.store_i64(4, 7);
  expected.store_i64(5, 9);
  auto difference = compare({"Y", got}, expected, {.relative = 1, .absolute = 100});  // integers are compared exactly
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->code, Code::result_differs);
  EXPECT_EQ(difference->message, "`Y` is not as expected: 2 of 6 elements differ, first at [1, 1]: expected 0, got 7");
}

TEST(Compare, LargeIntegersAreNotRounded) {
  Tensor got(ElementType::i64, {1}), expected(ElementType::i64, {1});
  got.store_i64(0, std::numeric_limits<std::int64_t>::max());
  expected.store_i64(0, std::numeric_limits<std::int64_t>::max() - 1);
  EXPECT_TRUE(compare({"Y", got}, expected, {}));
  EXPECT_EQ(differences(got, expected, {}).absolute.by, 1);
}

TEST(Compare, OverflowingDifferenceIsNumeric) {
  Tensor got(ElementType::f64, {1}), expected(ElementType::f64, {1});
  got.store_f64(0, 1e308);
  expected.store_f64(0, -1e308);
  EXPECT_EQ(differences(got, expected, {}).not_numbers, 0);
}

}  // namespace
}  // namespace tap::driver
