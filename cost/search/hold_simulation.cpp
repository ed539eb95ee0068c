#include "cost/search/hold_simulation.h"

#include <algorithm>

namespace tap::cost {

namespace {

Holding* find(Holdings& holdings, std::uint32_t value) {
  auto place = std::lower_bound(holdings.begin(), holdings.end(), value,
                                [](const Holding& holding, std::uint32_t v) { return holding.value < v; });
  return place != holdings.end() && place->value == value ? &*place : nullptr;
}
Holding& find_or_add(Holdings& holdings, std::uint32_t value) {
  auto place = std::lower_bound(holdings.begin(), holdings.end(), value,
                                [](const Holding& holding, std::uint32_t v) { return holding.value < v; });
  if (place == holdings.end() || place->value != value) place = holdings.insert(place, Holding{value});
  return *place;
}

}  // namespace

void Holding::add(Held version) {
  if (count == held.size()) return;
  std::size_t at = count++;
  for (; at > 1 && held[at - 1] > version; --at) held[at] = held[at - 1];
  held[at] = version;
}

CostSoFar after(const CostSoFar& cost, const Change& change) {
  CostSoFar next = cost;
  next.cost.seconds += change.seconds;
  next.cost.traffic += change.traffic;
  next.cost.memory = std::max(next.cost.memory, cost.live + change.peak);
  next.live += change.before - change.freed;
  return next;
}

HoldSimulation::HoldSimulation(const SearchProblem& problem, HoldCosts& costs)
    : problem_(problem), costs_(costs), last_(problem.values.size(), 0) {
  for (std::size_t s = 0; s < problem.steps.size(); ++s)
    for (std::uint32_t v : problem.steps[s].operands) last_[v] = s;
}

Holdings HoldSimulation::start(double& bytes) {
  Holdings holdings;
  for (std::uint32_t v = 0; v < problem_.values.size(); ++v)
    if (problem_.values[v].fixed) {
      find_or_add(holdings, v).set(*problem_.values[v].fixed);
      bytes += costs_.bytes(v, *problem_.values[v].fixed);
    }
  return holdings;
}

Change HoldSimulation::apply(Holdings& holdings, std::size_t number, const StepChoice& choice) {
  const SearchStep& step = problem_.steps[number];
  Change change{choice.seconds, choice.traffic, 0, 0, 0};
  for (std::size_t k = 0; k < step.operands.size(); ++k) provide(holdings, step.operands[k], choice.needs[k], change);
  double written = 0;
  for (std::size_t r = 0; r < step.results.size(); ++r) {
    find_or_add(holdings, step.results[r]).set(choice.leaves[r]);
    written += costs_.bytes(step.results[r], choice.leaves[r]);
  }
  change.before += written;
  change.peak = change.before + choice.extra;
  std::erase_if(holdings, [&](const Holding& holding) { return is_done(holding, number, change); });
  return change;
}

Change HoldSimulation::finish(Holdings& holdings) {
  Change change;
  for (std::uint32_t v = 0; v < problem_.values.size(); ++v)
    if (problem_.values[v].left && find(holdings, v)) provide(holdings, v, *problem_.values[v].left, change);
  change.peak = change.before;
  return change;
}

// Whether no later step depends on how the value is held.
bool HoldSimulation::is_done(const Holding& holding, std::size_t number, Change& change) {
  const SearchStep& step = problem_.steps[number];
  const SearchValue& value = problem_.values[holding.value];
  const bool is_result = std::count(step.results.begin(), step.results.end(), holding.value) > 0;
  if (last_[holding.value] > number || (last_[holding.value] < number && !is_result) || value.left) return false;
  if (value.given) return true;  // inputs stay until the end
  change.freed += bytes_of(holding);
  if (value.kept) change.freed -= costs_.bytes(holding.value, holding.held[0]);
  return true;
}

double HoldSimulation::bytes_of(const Holding& holding) {
  double bytes = 0;
  for (Held version : holding.versions()) bytes += costs_.bytes(holding.value, version);
  return bytes;
}

void HoldSimulation::provide(Holdings& holdings, std::uint32_t value, Held need, Change& change) {
  Holding& holding = find_or_add(holdings, value);
  if (std::ranges::count(holding.versions(), need) > 0) return;
  const SearchValue& known = problem_.values[value];
  if (!known.given || known.fixed) {
    std::optional<TransferCost> best;
    for (Held version : holding.versions()) {
      const TransferCost cost = costs_.reshard(value, version, need);
      if (!best || cost.seconds < best->seconds) best = cost;
    }
    if (best) {
      change.seconds += best->seconds;
      change.traffic += best->bytes;
    }
  }
  change.before += costs_.bytes(value, need);
  holding.add(need);
}

}  // namespace tap::cost
