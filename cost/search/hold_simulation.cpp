#include "cost/search/hold_simulation.h"

#include <algorithm>
#include <utility>

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

CostSoFar at_start(double bytes) { return {{0, bytes, 0}, bytes, bytes}; }

HoldSimulation::HoldSimulation(const SearchProblem& problem, HoldCosts& costs, std::vector<HeldMove>* moves)
    : problem_(problem), costs_(costs), moves_(moves), last_(problem.values.size(), 0) {
  for (std::size_t s = 0; s < problem.steps.size(); ++s)
    for (std::uint32_t v : problem.steps[s].operands) last_[v] = s;
}

Holdings HoldSimulation::start(double& bytes) {
  Holdings holdings;
  for (std::uint32_t v = 0; v < problem_.values.size(); ++v)
    if (problem_.values[v].fixed) {
      find_or_add(holdings, v).set(*problem_.values[v].fixed, 0);
      bytes += costs_.bytes(v, *problem_.values[v].fixed);
    }
  if (problem_.stages > 1) find_or_add(holdings, current_stage).set(0, 0);
  return holdings;
}

Change HoldSimulation::apply(Holdings& holdings, std::size_t number, const StepChoice& choice) {
  const SearchStep& step = problem_.steps[number];
  Change change{choice.seconds, choice.traffic};
  stage_ = choice.stage;
  step_ = number;
  if (Holding* current = find(holdings, current_stage)) {
    const Held before = std::exchange(current->held[0], stage_);
    change.begins_stage = stage_ > before;
    if (stage_ < before || stage_ > before + 1) change.seconds = unlimited;
    if (change.seconds == unlimited) return change;
  }
  for (std::size_t k = 0; k < step.operands.size(); ++k) provide_operand(holdings, step, choice, k, change);
  double written = 0;
  for (std::size_t r = 0; r < step.results.size(); ++r) {
    find_or_add(holdings, step.results[r]).set(choice.leaves[r], stage_);
    written += costs_.bytes(step.results[r], choice.leaves[r]);
  }
  change.before += written;
  change.peak += change.inputs + change.before + choice.extra;
  std::erase_if(holdings, [&](const Holding& holding) { return is_done(holding, number, change); });
  return change;
}

Change HoldSimulation::finish(Holdings& holdings) {
  Change change;
  step_ = problem_.steps.size();
  for (std::uint32_t v = 0; v < problem_.values.size(); ++v)
    if (problem_.values[v].left && find(holdings, v)) provide(holdings, v, *problem_.values[v].left, change);
  change.peak = change.before;
  return change;
}

// Whether no later step depends on how the value is held.
bool HoldSimulation::is_done(const Holding& holding, std::size_t number, Change& change) {
  if (holding.value == current_stage) return false;
  const SearchStep& step = problem_.steps[number];
  const SearchValue& value = problem_.values[holding.value];
  const bool is_result = std::count(step.results.begin(), step.results.end(), holding.value) > 0;
  if (last_[holding.value] > number || (last_[holding.value] < number && !is_result) || value.left) return false;
  if (value.given || holding.stage != stage_) return true;  // inputs stay until the end
  change.freed += bytes_of(holding);
  if (value.kept) change.freed -= costs_.bytes(holding.value, holding.held[0]);
  return true;
}

double HoldSimulation::bytes_of(const Holding& holding) {
  double bytes = 0;
  for (Held version : holding.versions()) bytes += costs_.bytes(holding.value, version);
  return bytes;
}

// An input in parts: a copy of the part, from which other devices gather, and what is gathered live while the step runs.
void HoldSimulation::provide_operand(Holdings& holdings, const SearchStep& step, const StepChoice& choice,
                                     std::size_t operand, Change& change) {
  const std::uint32_t value = step.operands[operand];
  const Held need = choice.needs[operand];
  bring_to_stage(holdings, value, need, change);
  if (operand < choice.parts.size() && choice.parts[operand] && !find(holdings, value)) {
    Holding& holding = find_or_add(holdings, value);
    holding.set(*choice.parts[operand], stage_);
    holding.in_parts = true;
    change.inputs += costs_.bytes(value, holding.held[0]);
  }
  if (const Holding* holding = find(holdings, value); !holding || !holding->in_parts)
    return provide(holdings, value, need, change);
  bool copied = false;
  for (std::size_t k = 0; k < operand; ++k) {
    copied |= step.operands[k] == value;
    if (step.operands[k] == value && choice.needs[k] == need) return;
  }
  const Held part = find(holdings, value)->held[0];
  if (!copied) {
    change.seconds += costs_.seconds_of_copy(value, part);
    change.peak += costs_.bytes(value, part);
  }
  if (part == need) return;
  add(change, {value, step_, part, need, costs_.reshard(value, part, need)});
  change.peak += costs_.bytes(value, need);
}

// Values of earlier stages are sent to the devices of this one; inputs are there from the start.
void HoldSimulation::bring_to_stage(Holdings& holdings, std::uint32_t value, Held need, Change& change) {
  Holding* holding = find(holdings, value);
  if (!holding || holding->stage == stage_) return;
  holding->stage = stage_;
  if (problem_.values[value].given) {
    if (holding->in_parts) change.inputs += costs_.bytes(value, holding->held[0]);
    else holding->count = 0;
    return;
  }
  const bool has_it = std::ranges::count(holding->versions(), need) > 0 && !costs_.is_part(need);
  const Held sent = has_it ? need : holding->held[0];
  const TransferCost cost = costs_.to_later_stage(value, sent);
  change.seconds += cost.seconds;
  change.traffic += cost.bytes;
  change.before += costs_.bytes(value, sent);
  holding->set(sent, stage_);
}

void HoldSimulation::add(Change& change, const HeldMove& move) {
  change.seconds += move.cost.seconds;
  change.traffic += move.cost.bytes;
  if (moves_) moves_->push_back(move);
}

void HoldSimulation::provide(Holdings& holdings, std::uint32_t value, Held need, Change& change) {
  Holding& holding = find_or_add(holdings, value);
  holding.stage = stage_;
  if (std::ranges::count(holding.versions(), need) > 0) return;
  const SearchValue& known = problem_.values[value];
  if (!known.given || known.fixed) {
    // Transfers are from where it was written.
    if (holding.count > 0) {
      const Held from = holding.held[0];
      const TransferCost cost = costs_.reshard(value, from, need);
      if (cost.bytes == 0 && costs_.is_part(need)) return;
      add(change, {value, step_, from, need, cost});
    }
  }
  (known.given ? change.inputs : change.before) += costs_.bytes(value, need);
  holding.add(need);
}

}  // namespace tap::cost
