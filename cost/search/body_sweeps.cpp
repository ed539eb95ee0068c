#include "cost/search/body_sweeps.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "cost/search/given_shardings.h"
#include "support/spare_threads.h"

namespace tap::cost {

namespace {

constexpr std::size_t promising = 8;

SearchLimits coarse(SearchLimits limits) {
  limits.most_states = std::min(limits.most_states, std::max<std::size_t>(limits.most_states / 16, 32));
  return limits;
}

SearchLimits of_a_trip(SearchLimits limits, std::int64_t trips) {
  const auto count = static_cast<double>(std::max<std::int64_t>(trips, 1));
  limits.at_most.seconds /= count;
  limits.at_most.traffic /= count;
  return limits;
}

// Each thread has costs of its own.
void for_each_sweep(std::size_t count, const CostsOfBody& known, SpareThreads* spare,
                    const std::function<void(std::size_t, GraphCosts&)>& sweep_one) {
  struct Own {
    explicit Own(const CostsOfBody& known) : transfers(known.transfers), values(known.values, transfers) {}
    TransferTimes transfers;
    GraphCosts values;
  };
  for_each_item(count, spare, [&]() -> WorkOnItem {
    return [&sweep_one, own = std::make_shared<Own>(known)](std::size_t k) { sweep_one(k, own->values); };
  });
}

double best_of(const BodySweep& swept, Goal goal) {
  double least = unlimited;
  for (const Chosen& plan : swept.front.plans) least = std::min(least, value_of(plan.cost, goal));
  return least;
}

void refine(BodySweeps& found, const CostsOfBody& costs, const SearchLimits& limits, SpareThreads* spare) {
  std::vector<Front> finer(std::min(found.all.size(), promising));
  for_each_sweep(finer.size(), costs, spare, [&](std::size_t k, GraphCosts& own) {
    const BodySweep& swept = found.all[k];
    if (!swept.front.goal_is_exact && !is_hurried(limits)) finer[k] = sweep(swept.problem, own, limits);
  });
  for (std::size_t k = 0; k < finer.size(); ++k) {
    found.labels += finer[k].labels;
    if (!finer[k].plans.empty()) found.all[k].front = std::move(finer[k]);
  }
}

}  // namespace

BodySweeps sweep_body(const SearchProblem& body, const ir::Graph& graph, std::vector<std::vector<Held>> states,
                      std::int64_t trips, const CostsOfBody& costs, const SearchOptions& options) {
  std::vector<std::optional<BodySweep>> swept(states.size());
  std::vector<Front> without_plans(states.size());
  const SearchLimits few = of_a_trip(coarse(options.limits), trips);
  for_each_sweep(states.size(), costs, options.spare, [&](std::size_t k, GraphCosts& own) {
    SearchProblem problem = with_states(body, graph, states[k]);
    Front front = sweep(problem, own, few);
    if (front.plans.empty()) without_plans[k] = std::move(front);
    else swept[k] = BodySweep{std::move(states[k]), std::move(problem), std::move(front)};
  });
  BodySweeps found;
  for (std::size_t k = 0; k < swept.size(); ++k) {
    found.labels += swept[k] ? swept[k]->front.labels : without_plans[k].labels;
    if (swept[k]) found.all.push_back(std::move(*swept[k]));
    else found.is_exact = found.is_exact && without_plans[k].goal_is_exact;
  }
  const Goal goal = options.limits.goal;
  std::ranges::stable_sort(found.all, {}, [goal](const BodySweep& one) { return best_of(one, goal); });
  refine(found, costs, of_a_trip(options.limits, trips), options.spare);
  for (const BodySweep& one : found.all) found.is_exact = found.is_exact && one.front.goal_is_exact;
  return found;
}

}  // namespace tap::cost
