#include "cost/search/frontier.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "cost/search/hold_simulation.h"
#include "cost/search/holding_table.h"
#include "cost/search/label.h"
#include "cost/search/state_table.h"
#include "cost/search/thinning.h"

namespace tap::cost {

namespace {

constexpr std::size_t states_in_haste = 8;

struct Node {
  std::uint32_t parent = 0, choice = 0;
};

// What the labels of a state can become at the least, whatever the change: of a step that adds the same to each, the label
// with the least seconds stays the one.
struct LeastLabels {
  Label fastest, least_traffic;
  std::vector<Label> smallest;  // of which none has less memory, both at the peak and now
};

// What a step can make of the holdings of its operands: those of operands and results that stay live, and by which choices.
struct Outcome {
  State after;
  std::uint64_t hash = 0;
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
      : problem_(problem), limits_(limits), most_states_(limits.most_states), simulation_(problem, costs) {}

  Front run() {
    double bytes = 0;
    State start;
    number(simulation_.start(bytes), start);
    const Label first{at_start(bytes)};
    nodes_.emplace_back();
    States now{StateTable(start.size()), {{first}}};
    now.table.number(start, hash_of(start));
    for (std::size_t s = 0; s < problem_.steps.size(); ++s) {
      if (is_hurried(limits_)) most_states_ = std::min(most_states_, states_in_haste);
      now = advance(now, s);
    }
    std::vector<Label> last;
    for (std::size_t k = 0; k < now.table.size(); ++k) {
      Holdings end = holdings_of(now.table[k]);
      const Change change = simulation_.finish(end);
      for (const Label& label : now.labels[k])
        if (const Label made{after(label.so_far, change), label.node};
            cost::dominates(made.so_far.cost, limits_.at_most))
          insert(last, made);
    }
    for (const Label& label : last) front_.plans.push_back({choices_of(label.node), label.so_far.cost});
    remove_beaten();
    return std::move(front_);
  }

 private:
  void number(const Holdings& holdings, State& state) {
    state.clear();
    for (const Holding& holding : holdings) state.push_back(table_.number(holding));
  }
  Holdings holdings_of(std::span<const std::uint32_t> state) const {
    Holdings holdings;
    for (std::uint32_t number : state) holdings.push_back(table_[number]);
    return holdings;
  }

  struct States {
    StateTable table;
    std::vector<std::vector<Label>> labels;
  };
  // States that follow, and the ways to each: from which state, by which outcome. Most have few, so that all are in one list.
  static constexpr std::uint32_t no_way = ~0u;
  struct Way {
    std::uint32_t from = 0;
    std::uint32_t other = no_way;  // to the same state
    const Outcome* outcome = nullptr;
  };
  struct Successors {
    StateTable table;
    std::vector<std::uint32_t> last = {};  // by state: the number of a way
    std::vector<Way> ways = {};

    template <class Visit>
    void each_way(std::size_t state, Visit visit) const {
      for (std::uint32_t w = last[state]; w != no_way; w = ways[w].other) visit(ways[w]);
    }
  };

  States advance(const States& now, std::size_t s) {
    std::map<State, std::vector<Outcome>> outcomes;  // by the holdings of the operands
    const Successors all = successors(now, s, outcomes);
    States next{StateTable(all.table.width()), {}};
    for (std::size_t k : kept_of(now, all)) {
      if (next.labels.size() >= states_in_haste && is_hurried(limits_)) {
        front_.is_exact = front_.goal_is_exact = false;
        break;
      }
      std::vector<Label> labels = labels_of(now, all, k);
      if (labels.empty()) continue;
      next.table.number(all.table[k], hash_of(all.table[k]));
      next.labels.push_back(std::move(labels));
    }
    return next;
  }

  Successors successors(const States& now, std::size_t s, std::map<State, std::vector<Outcome>>& outcomes) {
    std::optional<Successors> all;
    Interleaving order;
    State own, others, changed;
    for (std::uint32_t k = 0; k < now.table.size(); ++k) {
      own.clear();
      others.clear();
      for (std::uint32_t number : now.table[k]) {
        const std::uint32_t value = table_[number].value;
        const bool is_operand = value == current_stage || std::ranges::count(problem_.steps[s].operands, value) > 0;
        (is_operand ? own : others).push_back(number);
      }
      auto [place, fresh] = outcomes.try_emplace(own);
      if (fresh) place->second = outcomes_of(own, s);
      const std::uint64_t hash = hash_of(others);
      for (const Outcome& outcome : place->second) {
        if (!all) {  // which values are live is the same for all states
          order = Interleaving(others, outcome.after, [this](std::uint32_t number) { return table_[number].value; });
          all = {StateTable(others.size() + outcome.after.size())};
        }
        order.merge(others, outcome.after, changed);
        const std::uint32_t number = all->table.number(changed, hash + outcome.hash);
        if (number == all->last.size()) all->last.push_back(no_way);
        const std::uint32_t before = std::exchange(all->last[number], static_cast<std::uint32_t>(all->ways.size()));
        all->ways.push_back({k, before, &outcome});
      }
    }
    return all ? std::move(*all) : Successors{StateTable(0)};
  }

  std::vector<Outcome> outcomes_of(const State& own, std::size_t s) {
    std::vector<Outcome> outcomes;
    std::map<State, std::size_t> known;
    const Holdings before = holdings_of(own);
    Holdings changed;
    State state;
    for (std::uint32_t c = 0; c < problem_.steps[s].choices.size(); ++c) {
      changed = before;
      const Change change = simulation_.apply(changed, s, problem_.steps[s].choices[c]);
      if (change.seconds == unlimited) continue;
      number(changed, state);
      auto [place, fresh] = known.try_emplace(state, outcomes.size());
      if (fresh) outcomes.push_back({state, hash_of(state), {}});
      add_way(outcomes[place->second], c, change);
    }
    return outcomes;
  }

  // Calls `visit` with each label of a state that follows, and the choice that leads to it.
  template <class Visit>
  void each_label(const States& now, const Successors& all, std::size_t state, Visit visit) const {
    all.each_way(state, [&](const Way& way) {
      for (const auto& [choice, change] : way.outcome->ways)
        for (const Label& label : now.labels[way.from]) {
          const Label made{after(label.so_far, change), label.node};
          if (cost::dominates(made.so_far.cost, limits_.at_most)) visit(made, choice);
        }
    });
  }
  // Those that no other beats, the fastest first.
  std::vector<Label> labels_of(const States& now, const Successors& all, std::size_t state) {
    candidates_.clear();
    each_label(now, all, state, [&](const Label& made, std::uint32_t choice) {
      candidates_.push_back({made, choice});
    });
    front_.labels += candidates_.size();
    fastest_first_.clear();
    for (std::uint32_t c = 0; c < candidates_.size(); ++c)
      fastest_first_.emplace_back(candidates_[c].label.so_far.cost.seconds, c);
    std::ranges::sort(fastest_first_, [this](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : comes_before(candidates_[a.second], candidates_[b.second]);
    });
    std::vector<Label> labels;
    std::size_t last = 0;  // the one that beat a candidate before often beats the next, too
    for (const auto& [seconds, c] : fastest_first_) {
      const Candidate& made = candidates_[c];
      if (last < labels.size() && dominates(labels[last], made.label)) continue;
      auto is_no_worse = [&](const Label& other) { return dominates(other, made.label); };
      last = static_cast<std::size_t>(std::ranges::find_if(labels, is_no_worse) - labels.begin());
      if (last < labels.size()) continue;
      labels.push_back({made.label.so_far, static_cast<std::uint32_t>(nodes_.size())});
      nodes_.push_back({made.label.node, made.choice});
    }
    shorten(labels);
    return labels;
  }
  static bool insert(std::vector<Label>& list, const Label& made) {
    for (const Label& other : list)
      if (dominates(other, made)) return false;
    std::erase_if(list, [&](const Label& other) { return dominates(made, other); });
    list.push_back(made);
    return true;
  }

  // Sorts them by the goal, and keeps only as many as `most_labels`.
  void shorten(std::vector<Label>& labels) {
    std::stable_sort(labels.begin(), labels.end(),
                     [this](const Label& a, const Label& b) { return goal(a) < goal(b); });
    const std::size_t most = std::max<std::size_t>(limits_.most_labels, 1);
    if (labels.size() <= most) return;
    front_.is_exact = false;
    std::vector<Label> fewer;
    for (std::size_t k : kept_after_thinning(labels, most)) fewer.push_back(labels[k]);
    labels = std::move(fewer);
  }

  double goal(const Label& label) const { return value_of(label.so_far.cost, limits_.goal); }

  // The numbers of the states to keep. If there are too many, half of them by the goal, the others by the other objectives:
  // plans that move nothing, or hold little, are found although others are faster on the way.
  std::vector<std::size_t> kept_of(const States& now, const Successors& all) {
    std::vector<std::size_t> kept(all.last.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    if (kept.size() <= most_states_) return kept;
    const std::vector<Least> least = least_of(now, all);
    std::erase_if(kept, [&](std::size_t k) { return least[k][0][0] == unlimited; });
    if (kept.size() <= most_states_) return kept;
    kept.clear();
    front_.is_exact = front_.goal_is_exact = false;
    const std::array turns{limits_.goal, Goal::seconds, limits_.goal, Goal::traffic, limits_.goal, Goal::memory};
    std::map<Goal, std::vector<std::size_t>> orders;
    for (Goal by : turns) orders.try_emplace(by, order_of(least, by));
    std::vector<bool> is_kept(least.size(), false);
    std::map<Goal, std::size_t> at;
    for (std::size_t turn = 0; kept.size() < most_states_; turn = (turn + 1) % turns.size()) {
      const std::vector<std::size_t>& order = orders.at(turns[turn]);
      std::size_t& next = at[turns[turn]];
      while (is_kept[order[next]]) ++next;  // fewer are kept than there are
      is_kept[order[next]] = true;
      kept.push_back(order[next]);
    }
    return kept;
  }
  // The least of each objective, and the goal of the plan that has it.
  using Least = std::array<std::array<double, 2>, 3>;
  // By state that follows; infinite if no label meets the limits.
  std::vector<Least> least_of(const States& now, const Successors& all) const {
    constexpr std::array<double, 2> none{unlimited, unlimited};
    std::vector<Least> least(all.last.size(), {none, none, none});
    const bool any_limit = limits_.at_most != Objectives{unlimited, unlimited, unlimited};
    std::vector<LeastLabels> of_state;
    for (const std::vector<Label>& labels : now.labels)
      if (!any_limit) of_state.push_back(least_labels(labels));
    for (std::size_t k = 0; k < all.last.size(); ++k) {
      if (any_limit) {
        each_label(now, all, k, [&](const Label& made, std::uint32_t) { see(least[k], made.so_far.cost); });
        continue;
      }
      all.each_way(k, [&](const Way& way) {
        for (const auto& [choice, change] : way.outcome->ways) {
          const LeastLabels& own = of_state[way.from];
          see(least[k], after(own.fastest.so_far, change).cost);
          see(least[k], after(own.least_traffic.so_far, change).cost);
          for (const Label& label : own.smallest) see(least[k], after(label.so_far, change).cost);
        }
      });
    }
    return least;
  }
  // Pre: not empty.
  LeastLabels least_labels(const std::vector<Label>& labels) const {
    auto least = [&](Goal by) {
      return *std::ranges::min_element(
          labels, {}, [&](const Label& label) { return std::pair(value_of(label.so_far.cost, by), goal(label)); });
    };
    LeastLabels found{least(Goal::seconds), least(Goal::traffic), {}};
    for (const Label& label : labels) {
      auto beats = [](const Label& a, const Label& b) {
        return a.so_far.cost.memory <= b.so_far.cost.memory && a.so_far.live <= b.so_far.live;
      };
      if (std::ranges::any_of(found.smallest, [&](const Label& other) { return beats(other, label); })) continue;
      std::erase_if(found.smallest, [&](const Label& other) { return beats(label, other); });
      found.smallest.push_back(label);
    }
    return found;
  }
  void see(Least& least, const Objectives& cost) const {
    for (Goal by : {Goal::seconds, Goal::memory, Goal::traffic}) {
      std::array<double, 2>& own = least[static_cast<std::size_t>(by)];
      own = std::min(own, {value_of(cost, by), value_of(cost, limits_.goal)});
    }
  }
  // The numbers of the states, those with the best label first; only as many as can be kept.
  std::vector<std::size_t> order_of(const std::vector<Least>& least, Goal by) const {
    std::vector<std::pair<std::array<double, 2>, std::size_t>> keyed;
    for (std::size_t k = 0; k < least.size(); ++k) keyed.emplace_back(least[k][static_cast<std::size_t>(by)], k);
    const std::size_t most = std::min(keyed.size(), most_states_);
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
  std::size_t most_states_;
  HoldSimulation simulation_;
  HoldingTable table_;
  std::vector<Node> nodes_;
  std::vector<Candidate> candidates_;                            // of one state, while its labels are chosen
  std::vector<std::pair<double, std::uint32_t>> fastest_first_;  // their seconds and numbers
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

Objectives cost_of(const SearchProblem& problem, HoldCosts& costs, const std::vector<std::uint32_t>& choices,
                   std::vector<HeldMove>* moves) {
  HoldSimulation simulation(problem, costs, moves);
  double bytes = 0;
  Holdings holdings = simulation.start(bytes);
  CostSoFar so_far = at_start(bytes);
  for (std::size_t s = 0; s < problem.steps.size(); ++s)
    so_far = after(so_far, simulation.apply(holdings, s, problem.steps[s].choices[choices[s]]));
  return after(so_far, simulation.finish(holdings)).cost;
}

}  // namespace tap::cost
