#include "cost/search/frontier.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "cost/search/hold_simulation.h"

namespace tap::cost {

namespace {

// Holdings by number.
class HoldingTable {
 public:
  std::uint32_t number(const Holding& holding) {
    auto [place, fresh] = numbers_.try_emplace(holding, static_cast<std::uint32_t>(list_.size()));
    if (fresh) list_.push_back(holding);
    return place->second;
  }
  const Holding& operator[](std::uint32_t number) const { return list_[number]; }

 private:
  std::map<Holding, std::uint32_t> numbers_;
  std::vector<Holding> list_;
};

// The holdings of the live values, by value: which values are live depends on the step only.
using State = std::vector<std::uint32_t>;

struct HashOfState {
  std::size_t operator()(const State& state) const {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (std::uint32_t holding : state) hash = (hash ^ holding) * 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 32);
  }
};

struct Label {
  CostSoFar so_far;
  std::uint32_t node = 0;
};
bool dominates(const Label& a, const Label& b) {
  return cost::dominates(a.so_far.cost, b.so_far.cost) && a.so_far.live <= b.so_far.live;
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

// What a step can make of the holdings of its operands: those of operands and results that stay live, and by which choices.
struct Outcome {
  State after;
  std::vector<std::pair<std::uint32_t, Change>> ways;  // none is beaten by another
};

void add_way(Outcome& outcome, std::uint32_t choice, const Change& change) {
  auto is_no_worse = [&](const auto& way) { return dominates(way.second, change); };
  if (std::ranges::any_of(outcome.ways, is_no_worse)) return;
  std::erase_if(outcome.ways, [&](const auto& way) { return dominates(change, way.second); });
  outcome.ways.emplace_back(choice, change);
}

class Sweep {
 public:
  Sweep(const SearchProblem& problem, HoldCosts& costs, const SearchLimits& limits)
      : problem_(problem), limits_(limits), simulation_(problem, costs) {}

  Front run() {
    Label first;
    const State start = numbered(simulation_.start(first.so_far.live));
    first.so_far.cost.memory = first.so_far.live;
    nodes_.emplace_back();
    States now;
    now[start] = {first};
    for (std::size_t s = 0; s < problem_.steps.size(); ++s) now = advance(now, s);
    std::vector<Label> last;
    for (const auto& [state, labels] : now) {
      Holdings end = holdings_of(*state);
      const Change change = simulation_.finish(end);
      for (const Label& label : labels)
        if (const Label made{after(label.so_far, change), label.node};
            cost::dominates(made.so_far.cost, limits_.at_most))
          insert(last, made);
    }
    for (const Label& label : last) front_.plans.push_back({choices_of(label.node), label.so_far.cost});
    remove_beaten();
    return std::move(front_);
  }

 private:
  State numbered(const Holdings& holdings) {
    State state;
    for (const Holding& holding : holdings) state.push_back(table_.number(holding));
    return state;
  }
  Holdings holdings_of(const State& state) const {
    Holdings holdings;
    for (std::uint32_t number : state) holdings.push_back(table_[number]);
    return holdings;
  }

  States advance(States& now, std::size_t s) {
    States next;
    std::unordered_map<State, std::vector<Outcome>, HashOfState> known;  // by the holdings of the operands
    auto by_value = [this](std::uint32_t number) { return table_[number].value; };
    State own, others, changed;
    for (const auto& [state, labels] : now) {
      own.clear();
      others.clear();
      for (std::uint32_t number : *state) {
        const bool is_operand = std::ranges::count(problem_.steps[s].operands, table_[number].value) > 0;
        (is_operand ? own : others).push_back(number);
      }
      auto [place, fresh] = known.try_emplace(own);
      if (fresh) place->second = outcomes_of(own, s);
      for (const Outcome& outcome : place->second) {
        changed.resize(others.size() + outcome.after.size());
        std::ranges::merge(others, outcome.after, changed.begin(), {}, by_value, by_value);
        extend(next, changed, labels, outcome);
      }
    }
    if (next.size() > limits_.most_states) next = best_of(std::move(next));
    for (auto& [state, labels] : next) shorten(labels);
    return next;
  }

  std::vector<Outcome> outcomes_of(const State& own, std::size_t s) {
    std::vector<Outcome> outcomes;
    std::map<State, std::size_t> known;
    const Holdings before = holdings_of(own);
    for (std::uint32_t c = 0; c < problem_.steps[s].choices.size(); ++c) {
      Holdings changed = before;
      const Change change = simulation_.apply(changed, s, problem_.steps[s].choices[c]);
      State state = numbered(changed);
      auto [place, fresh] = known.try_emplace(state, outcomes.size());
      if (fresh) outcomes.push_back({std::move(state), {}});
      add_way(outcomes[place->second], c, change);
    }
    return outcomes;
  }

  void extend(States& next, const State& changed, const std::vector<Label>& labels, const Outcome& outcome) {
    std::vector<Label>* list = nullptr;
    for (const auto& [choice, change] : outcome.ways)
      for (const Label& label : labels) {
        const Label made{after(label.so_far, change), static_cast<std::uint32_t>(nodes_.size())};
        if (!cost::dominates(made.so_far.cost, limits_.at_most)) continue;
        if (!list) list = &next[changed];
        ++front_.labels;
        if (insert(*list, made)) nodes_.push_back({label.node, choice});
      }
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
      auto best = std::min_element(labels.begin(), labels.end(), [&](const Label& a, const Label& b) {
        return key(a.so_far.cost) < key(b.so_far.cost);
      });
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

  double goal(const Label& label) const { return value_of(label.so_far.cost, limits_.goal); }

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
  // The numbers of the states, those with the best label first; only as many as can be kept.
  std::vector<std::size_t> order_of(States& all, Goal by) const {
    std::vector<std::pair<std::array<double, 2>, std::size_t>> keyed;
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::array<double, 2> least{std::numeric_limits<double>::infinity(), 0};
      for (const Label& label : all[k].second)
        least = std::min(least, {value_of(label.so_far.cost, by), value_of(label.so_far.cost, limits_.goal)});
      keyed.emplace_back(least, k);
    }
    const std::size_t most = std::min(keyed.size(), limits_.most_states);
    std::partial_sort(keyed.begin(), keyed.begin() + static_cast<std::ptrdiff_t>(most), keyed.end());
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < most; ++k) order.push_back(keyed[k].second);
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
  HoldSimulation simulation_;
  HoldingTable table_;
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
  HoldSimulation simulation(problem, costs);
  CostSoFar so_far;
  Holdings holdings = simulation.start(so_far.live);
  so_far.cost.memory = so_far.live;
  for (std::size_t s = 0; s < problem.steps.size(); ++s)
    so_far = after(so_far, simulation.apply(holdings, s, problem.steps[s].choices[choices[s]]));
  return after(so_far, simulation.finish(holdings)).cost;
}

}  // namespace tap::cost
