// Every combination of choices of a small search problem, priced one by one, and how much of the best a search found.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "cost/search/frontier.h"

namespace tap::cost {

inline std::vector<Objectives> every_cost(const SearchProblem& problem, HoldCosts& costs) {
  std::vector<Objectives> all;
  std::vector<std::uint32_t> choices(problem.steps.size(), 0);
  for (;;) {
    all.push_back(cost_of(problem, costs, choices));
    std::size_t s = 0;
    while (s < choices.size() && ++choices[s] == problem.steps[s].choices.size()) choices[s++] = 0;
    if (s == choices.size()) return all;
  }
}

inline std::vector<Objectives> best_of(std::vector<Objectives> all) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.seconds, a.memory, a.traffic) < std::tie(b.seconds, b.memory, b.traffic);
  });
  std::vector<Objectives> best;  // what beats a plan comes before it
  for (const Objectives& own : all)
    if (std::none_of(best.begin(), best.end(), [&](const Objectives& other) { return dominates(other, own); }))
      best.push_back(own);
  return best;
}

// The volume of what the plans beat, below `worst` in each objective.
inline double volume_beaten(std::vector<Objectives> plans, const Objectives& worst) {
  std::sort(plans.begin(), plans.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  double volume = 0;
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const double depth = (k + 1 < plans.size() ? plans[k + 1].seconds : worst.seconds) - plans[k].seconds;
    std::vector<Objectives> faster(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    std::sort(faster.begin(), faster.end(), [](const auto& a, const auto& b) { return a.memory < b.memory; });
    double area = 0, traffic = worst.traffic;
    for (const Objectives& plan : faster) {
      if (plan.traffic >= traffic) continue;
      area += (worst.memory - plan.memory) * (traffic - plan.traffic);
      traffic = plan.traffic;
    }
    volume += depth * area;
  }
  return volume;
}

inline Objectives worse_than_all(const std::vector<Objectives>& all) {
  Objectives worst;
  for (const Objectives& own : all)
    worst = {std::max(worst.seconds, own.seconds), std::max(worst.memory, own.memory),
             std::max(worst.traffic, own.traffic)};
  return {worst.seconds * 1.01 + 1e-9, worst.memory + 1, worst.traffic + 1};
}

}  // namespace tap::cost
