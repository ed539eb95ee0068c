#include "cost/search/frontier.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

namespace tap::cost {

namespace {

// How a live value is held: its versions, the first as it was written.
struct Holding {
  std::uint32_t value = 0;
  std::uint16_t count = 0;
  std::array<Held, 7> held = {};  // more are not remembered, so that they are moved again
  std::span<const Held> versions() const { return {held.data(), count}; }
  bool operator==(const Holding&) const = default;

  void set(Held version) { *this = {value, 1, {version}}; }
  // The order of the versions after the first does not matter.
  void add(Held version) {
    if (count == held.size()) return;
    std::size_t at = count++;
    for (; at > 1 && held[at - 1] > version; --at) held[at] = held[at - 1];
    held[at] = version;
  }
};
using State = std::vector<Holding>;  // by value

struct HashOfState {
  std::size_t operator()(const State& state) const {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const Holding& holding : state) {
      hash = (hash ^ holding.value) * 0x100000001b3;
      for (Held version : holding.versions()) hash = (hash ^ version) * 0x100000001b3;
    }
    return hash ^ (hash >> 32);
  }
};

Holding* find(State& state, std::uint32_t value) {
  auto place = std::lower_bound(state.begin(), state.end(), value,
                                [](const Holding& holding, std::uint32_t v) { return holding.value < v; });
  return place != state.end() && place->value == value ? &*place : nullptr;
}
Holding& find_or_add(State& state, std::uint32_t value) {
  auto place = std::lower_bound(state.begin(), state.end(), value,
                                [](const Holding& holding, std::uint32_t v) { return holding.value < v; });
  if (place == state.end() || place->value != value) place = state.insert(place, Holding{value});
  return *place;
}

// The change of a label by a step.
struct Change {
  double seconds = 0, traffic = 0;
  double before = 0;  // bytes that are added before the step runs
  double peak = 0;    // bytes above those of before, at the most
  double freed = 0;   // afterwards
};

class Simulation {
 public:
  Simulation(const SearchProblem& problem, HoldCosts& costs) : problem_(problem), costs_(costs) {
    last_.assign(problem.values.size(), 0);
    for (std::size_t s = 0; s < problem.steps.size(); ++s)
      for (std::uint32_t v : problem.steps[s].operands) last_[v] = s;
  }

  State start(double& bytes) {
    State state;
    for (std::uint32_t v = 0; v < problem_.values.size(); ++v)
      if (problem_.values[v].fixed) {
        find_or_add(state, v).set(*problem_.values[v].fixed);
        bytes += costs_.bytes(v, *problem_.values[v].fixed);
      }
    return state;
  }

  Change apply(State& state, std::size_t number, const StepChoice& choice) {
    const SearchStep& step = problem_.steps[number];
    Change change{choice.seconds, choice.traffic, 0, 0, 0};
    for (std::size_t k = 0; k < step.operands.size(); ++k) provide(state, step.operands[k], choice.needs[k], change);
    double written = 0;
    for (std::size_t r = 0; r < step.results.size(); ++r) {
      find_or_add(state, step.results[r]).set(choice.leaves[r]);
      written += costs_.bytes(step.results[r], choice.leaves[r]);
    }
    change.before += written;
    change.peak = change.before + choice.extra;
    std::erase_if(state, [&](const Holding& holding) { return is_done(holding, number, change); });
    return change;
  }

  // Outputs get the shardings that they must have.
  Change finish(State& state) {
    Change change;
    for (std::uint32_t v = 0; v < problem_.values.size(); ++v)
      if (problem_.values[v].left && find(state, v)) provide(state, v, *problem_.values[v].left, change);
    change.peak = change.before;
    return change;
  }

 private:
  // Whether no later step depends on how the value is held.
  bool is_done(const Holding& holding, std::size_t number, Change& change) {
    const SearchStep& step = problem_.steps[number];
    const SearchValue& value = problem_.values[holding.value];
    const bool is_result = std::count(step.results.begin(), step.results.end(), holding.value) > 0;
    if (last_[holding.value] > number || (last_[holding.value] < number && !is_result) || value.left) return false;
    if (value.given) return true;  // inputs stay until the end
    change.freed += bytes_of(holding);
    if (value.kept) change.freed -= costs_.bytes(holding.value, holding.held[0]);
    return true;
  }

  double bytes_of(const Holding& holding) {
    double bytes = 0;
    for (Held version : holding.versions()) bytes += costs_.bytes(holding.value, version);
    return bytes;
  }

  void provide(State& state, std::uint32_t value, Held need, Change& change) {
    Holding& holding = find_or_add(state, value);
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

  const SearchProblem& problem_;
  HoldCosts& costs_;
  std::vector<std::size_t> last_;  // by value: the last step that reads it
};

struct Label {
  Objectives cost;
  double live = 0;  // bytes now
  std::uint32_t node = 0;
};
bool dominates(const Label& a, const Label& b) { return cost::dominates(a.cost, b.cost) && a.live <= b.live; }

Label after(const Label& label, const Change& change) {
  Label next = label;
  next.cost.seconds += change.seconds;
  next.cost.traffic += change.traffic;
  next.cost.memory = std::max(next.cost.memory, label.live + change.peak);
  next.live += change.before - change.freed;
  return next;
}

// Labels by state, in the order in which the states were found.
class States {
 public:
  std::vector<Label>& operator[](const State& state) {
    auto [place, fresh] = numbers_.try_emplace(state, all_.size());
    if (fresh) all_.emplace_back(&place->first, std::vector<Label>());
    return all_[place->second].second;
  }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  std::pair<const State*, std::vector<Label>>& operator[](std::size_t number) { return all_[number]; }

 private:
  std::unordered_map<State, std::size_t, HashOfState> numbers_;  // does not move its keys
  std::vector<std::pair<const State*, std::vector<Label>>> all_;
};

struct Node {
  std::uint32_t parent = 0, choice = 0;
};

class Sweep {
 public:
  Sweep(const SearchProblem& problem, HoldCosts& costs, const SearchLimits& limits)
      : problem_(problem), limits_(limits), simulation_(problem, costs) {}

  Front run() {
    Label first;
    const State start = simulation_.start(first.live);
    first.cost.memory = first.live;
    nodes_.emplace_back();
    States now;
    now[start] = {first};
    for (std::size_t s = 0; s < problem_.steps.size(); ++s) now = advance(now, s);
    std::vector<Label> last;
    for (const auto& [state, labels] : now) {
      State end = *state;
      const Change change = simulation_.finish(end);
      for (const Label& label : labels)
        if (const Label made = after(label, change); cost::dominates(made.cost, limits_.at_most)) insert(last, made);
    }
    for (const Label& label : last) front_.plans.push_back({choices_of(label.node), label.cost});
    remove_beaten();
    return std::move(front_);
  }

 private:
  States advance(States& now, std::size_t s) {
    States next;
    for (const auto& [state, labels] : now)
      for (std::uint32_t c = 0; c < problem_.steps[s].choices.size(); ++c) {
        State changed = *state;
        const Change change = simulation_.apply(changed, s, problem_.steps[s].choices[c]);
        std::vector<Label>* list = nullptr;
        for (const Label& label : labels) {
          Label made = after(label, change);
          if (!cost::dominates(made.cost, limits_.at_most)) continue;
          made.node = static_cast<std::uint32_t>(nodes_.size());
          if (!list) list = &next[changed];
          if (insert(*list, made)) nodes_.push_back({label.node, c});
        }
      }
    for (auto& [state, labels] : next) shorten(labels);
    return next.size() > limits_.most_states ? best_of(std::move(next)) : std::move(next);
  }

  static bool insert(std::vector<Label>& list, const Label& made) {
    for (const Label& other : list)
      if (dominates(other, made)) return false;
    std::erase_if(list, [&](const Label& other) { return dominates(made, other); });
    list.push_back(made);
    return true;
  }

  // Keeps the best in each objective, and others at even distances in the order of the goal.
  void shorten(std::vector<Label>& labels) {
    std::stable_sort(labels.begin(), labels.end(),
                     [this](const Label& a, const Label& b) { return goal(a) < goal(b); });
    const std::size_t most = std::max<std::size_t>(limits_.most_labels, 1);
    if (labels.size() <= most) return;
    front_.is_exact = false;
    auto least = [&](auto key) {
      auto best = std::min_element(labels.begin(), labels.end(),
                                   [&](const Label& a, const Label& b) { return key(a.cost) < key(b.cost); });
      return static_cast<std::size_t>(best - labels.begin());
    };
    std::set<std::size_t> kept{0};
    for (Goal other : {Goal::seconds, Goal::memory, Goal::traffic})
      if (most >= 3) kept.insert(least([&](const Objectives& own) { return value_of(own, other); }));
    const std::size_t others = most - kept.size();
    for (std::size_t k = 0; k < others; ++k)
      kept.insert((k + 1) * (labels.size() - 1) / std::max<std::size_t>(others, 1));
    std::vector<Label> shorter;
    for (std::size_t k : kept) shorter.push_back(labels[k]);
    labels = std::move(shorter);
  }

  double goal(const Label& label) const { return value_of(label.cost, limits_.goal); }

  // Half of the states by the goal, the others by the other objectives: plans that move nothing, or hold little, are found
  // although others are faster on the way.
  States best_of(States all) {
    front_.is_exact = front_.goal_is_exact = false;
    std::vector<Goal> turns{limits_.goal, Goal::seconds, limits_.goal, Goal::traffic, limits_.goal, Goal::memory};
    std::map<Goal, std::vector<std::size_t>> orders;
    for (Goal by : turns) orders.try_emplace(by, order_of(all, by));
    std::vector<bool> is_kept(all.size(), false);
    std::map<Goal, std::size_t> at;
    States kept;
    for (std::size_t turn = 0; kept.size() < limits_.most_states; turn = (turn + 1) % turns.size()) {
      const std::vector<std::size_t>& order = orders.at(turns[turn]);
      std::size_t& next = at[turns[turn]];
      while (is_kept[order[next]]) ++next;  // fewer are kept than there are
      is_kept[order[next]] = true;
      auto& [state, labels] = all[order[next]];
      kept[*state] = std::move(labels);
    }
    return kept;
  }
  // The numbers of the states, those with the best label first.
  std::vector<std::size_t> order_of(States& all, Goal by) const {
    std::vector<std::pair<std::array<double, 2>, std::size_t>> keyed;
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::array<double, 2> least{std::numeric_limits<double>::infinity(), 0};
      for (const Label& label : all[k].second)
        least = std::min(least, {value_of(label.cost, by), value_of(label.cost, limits_.goal)});
      keyed.emplace_back(least, k);
    }
    std::stable_sort(keyed.begin(), keyed.end());
    std::vector<std::size_t> order;
    for (const auto& [key, k] : keyed) order.push_back(k);
    return order;
  }

  std::vector<std::uint32_t> choices_of(std::uint32_t node) const {
    std::vector<std::uint32_t> choices(problem_.steps.size());
    for (std::size_t s = choices.size(); s-- > 0; node = nodes_[node].parent) choices[s] = nodes_[node].choice;
    return choices;
  }

  void remove_beaten() {
    std::vector<Chosen>& plans = front_.plans;
    std::stable_sort(plans.begin(), plans.end(),
                     [](const Chosen& a, const Chosen& b) { return a.cost.seconds < b.cost.seconds; });
    std::vector<Chosen> kept;
    for (Chosen& plan : plans) {
      auto beats = [&](const Chosen& other) { return cost::dominates(other.cost, plan.cost); };
      if (std::none_of(kept.begin(), kept.end(), beats)) kept.push_back(std::move(plan));
    }
    plans = std::move(kept);
  }

  const SearchProblem& problem_;
  const SearchLimits& limits_;
  Simulation simulation_;
  std::vector<Node> nodes_;
  Front front_;
};

}  // namespace

Front sweep(const SearchProblem& problem, HoldCosts& costs, const SearchLimits& limits) {
  return Sweep(problem, costs, limits).run();
}

std::vector<std::vector<Held>> read_shardings(const SearchProblem& problem, const std::vector<std::uint32_t>& choices) {
  std::vector<std::vector<Held>> read(problem.values.size());
  for (std::size_t s = 0; s < problem.steps.size(); ++s)
    for (std::size_t k = 0; k < problem.steps[s].operands.size(); ++k) {
      std::vector<Held>& list = read[problem.steps[s].operands[k]];
      const Held need = problem.steps[s].choices[choices[s]].needs[k];
      if (std::count(list.begin(), list.end(), need) == 0) list.push_back(need);
    }
  return read;
}

Objectives cost_of(const SearchProblem& problem, HoldCosts& costs, const std::vector<std::uint32_t>& choices) {
  Simulation simulation(problem, costs);
  Label label;
  State state = simulation.start(label.live);
  label.cost.memory = label.live;
  for (std::size_t s = 0; s < problem.steps.size(); ++s)
    label = after(label, simulation.apply(state, s, problem.steps[s].choices[choices[s]]));
  return after(label, simulation.finish(state)).cost;
}

}  // namespace tap::cost
