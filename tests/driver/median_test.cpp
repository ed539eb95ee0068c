#include "compiler/driver/median.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tap::driver {
namespace {

std::vector<double> numbers(std::size_t count) {
  std::vector<double> values;
  for (std::size_t k = 0; k < count; ++k) values.push_back(static_cast<double>(count - k));  // n, …, 1
  return values;
}

TEST(Median, OfFewValues) {
  EXPECT_EQ(median_of({3}).middle, 3);
  EXPECT_EQ(median_of({1, 9, 2}).middle, 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}).middle, 2.5);
}

// Ranks from published tables of the sign test's 95 % interval of a median.
TEST(Median, IntervalsMatchTables) {
  struct Row {
    std::size_t n;
    double low, high;
  };
  for (Row row : {Row{6, 1, 6},
                  {8, 1, 8},
                  {9, 2, 8},
                  {10, 2, 9},
                  {12, 3, 10},
                  {15, 4, 12},
                  {20, 6, 15},
                  {25, 8, 18},
                  {30, 10, 21},
                  {50, 18, 33},
                  {100, 40, 61}}) {
    Median found = median_of(numbers(row.n));
    EXPECT_EQ(found.low, row.low) << row.n;
    EXPECT_EQ(found.high, row.high) << row.n;
    EXPECT_EQ(found.least, 1);
    EXPECT_EQ(found.count, row.n);
  }
}

TEST(Median, ManyValuesNarrowTheInterval) {
  Median found = median_of(numbers(100'000));
  EXPECT_NEAR(found.middle, 50'000.5, 1e-9);
  EXPECT_NEAR(found.high - found.low, 1.96 * std::sqrt(100'000.0), 5);
}

TEST(Median, IntervalCoversTheTrueMedianAsOftenAsStated) {
  std::mt19937_64 random(11);
  std::exponential_distribution<double> draw(1.0);
  int inside = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<double> values(31);
    for (double& value : values) value = draw(random);
    Median found = median_of(values);
    inside += found.low <= std::log(2.0) && std::log(2.0) <= found.high;
  }
  EXPECT_GT(inside, 1900 - 20);  // of 31 values the interval holds it with 97.1 %
  EXPECT_LT(inside, 1990);
}

}  // namespace
}  // namespace tap::driver
