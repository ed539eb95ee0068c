#include "cost/search/thinning.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tap::cost {

namespace {

// Logarithms: equal differences are equal factors. What is below a nanosecond or a byte counts as that.
using Point = std::array<double, 5>;
Point point_of(const Label& label) {
  constexpr double nanosecond = 1e-9;
  const CostSoFar& own = label.so_far;
  return {std::log(own.cost.seconds + nanosecond), std::log1p(own.cost.memory), std::log1p(own.cost.traffic),
          std::log1p(own.live), std::log1p(own.most)};
}

double loss(const Point& of, const Point& instead) {
  double most = 0;
  for (std::size_t k = 0; k < of.size(); ++k) most = std::max(most, instead[k] - of[k]);
  return most;
}

}  // namespace

std::vector<std::size_t> kept_after_thinning(const std::vector<Label>& labels, std::size_t most) {
  std::vector<Point> points;
  for (const Label& label : labels) points.push_back(point_of(label));
  std::vector<double> losses(labels.size(), unlimited);  // if the nearest of those kept stands for it
  std::vector<std::size_t> kept;
  auto keep = [&](std::size_t one) {
    kept.push_back(one);
    for (std::size_t k = 0; k < points.size(); ++k) losses[k] = std::min(losses[k], loss(points[k], points[one]));
    losses[one] = -1;
  };
  keep(0);
  constexpr std::size_t objectives = 3;
  for (std::size_t k = 0; k < objectives && most > objectives; ++k) {
    const auto best = std::ranges::min_element(points, {}, [k](const Point& point) { return point[k]; });
    if (const auto one = static_cast<std::size_t>(best - points.begin()); losses[one] >= 0) keep(one);
  }
  while (kept.size() < std::min(most, labels.size())) {
    const auto one = static_cast<std::size_t>(std::ranges::max_element(losses) - losses.begin());
    keep(one);
  }
  std::ranges::sort(kept);
  return kept;
}

}  // namespace tap::cost
