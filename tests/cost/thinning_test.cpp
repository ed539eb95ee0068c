// A few labels that stand for many.
#include "cost/search/thinning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tap::cost {
namespace {

Label label(double seconds, double memory, double traffic) { return {{{seconds, memory, traffic}, memory, memory}, 0}; }

double largest_loss(const std::vector<Label>& labels, const std::vector<std::size_t>& kept) {
  double largest = 1;
  for (const Label& one : labels) {
    double least = unlimited;
    for (std::size_t k : kept) {
      const Objectives &a = one.so_far.cost, &b = labels[k].so_far.cost;
      least = std::min(least, std::max({b.seconds / a.seconds, b.memory / a.memory, b.traffic / a.traffic}));
    }
    largest = std::max(largest, least);
  }
  return largest;
}

TEST(Thinning, ManyThatAreAlikeDoNotCrowdOutTheOthers) {
  std::vector<Label> labels{label(71e-6, 7744, 4000), label(84e-6, 7520, 4100)};
  for (int k = 0; k < 500; ++k) labels.push_back(label(1 + 1e-5 * k, 7000 - k, 3000));
  const std::vector<std::size_t> kept = kept_after_thinning(labels, 8);
  EXPECT_EQ(kept.size(), 8);
  EXPECT_EQ(kept[0], 0);
  EXPECT_EQ(kept[1], 1);
  EXPECT_EQ(kept[2], 2);
}

TEST(Thinning, TheBestInEachObjectiveStay) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> size(1, 1e6);
  for (int round = 0; round < 100; ++round) {
    std::vector<Label> labels;
    for (int k = 0; k < 60; ++k) labels.push_back(label(1e-6 * size(random), size(random), size(random)));
    const std::vector<std::size_t> kept = kept_after_thinning(labels, 5);
    EXPECT_EQ(kept.size(), 5);
    EXPECT_TRUE(std::ranges::is_sorted(kept));
    for (double Objectives::*by : {&Objectives::seconds, &Objectives::memory, &Objectives::traffic}) {
      auto less = [&](std::size_t a, std::size_t b) { return labels[a].so_far.cost.*by < labels[b].so_far.cost.*by; };
      std::vector<std::size_t> all(labels.size());
      for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
      EXPECT_TRUE(std::ranges::count(kept, *std::ranges::min_element(all, less)));
    }
  }
}

// Less than even distances in the order of time lose.
TEST(Thinning, LosesLittle) {
  std::mt19937 random(11);
  std::lognormal_distribution<double> size(0, 3);
  double ours = 0, even = 0;
  for (int round = 0; round < 200; ++round) {
    constexpr std::size_t all = 12, most = 3;
    std::vector<Label> labels;
    for (std::size_t k = 0; k < all; ++k) labels.push_back(label(size(random), 100 * size(random), 100 * size(random)));
    std::ranges::sort(labels, {}, [](const Label& one) { return one.so_far.cost.seconds; });
    ours += std::log(largest_loss(labels, kept_after_thinning(labels, most)));
    even += std::log(largest_loss(labels, {0, all / 2, all - 1}));
  }
  EXPECT_LT(ours, 0.8 * even);
}

TEST(Thinning, FewLabelsAndZeros) {
  const std::vector<Label> labels{label(0, 0, 0), label(0, 0, 0), label(1, 0, 0)};
  EXPECT_EQ(kept_after_thinning(labels, 8), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(kept_after_thinning(labels, 1), (std::vector<std::size_t>{0}));
}

}  // namespace
}  // namespace tap::cost
