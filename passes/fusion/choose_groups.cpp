#include "passes/fusion/choose_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "ir/graph.h"
#include "ir/tensor_bytes.h"

namespace tap::passes {

using namespace ir;

namespace {

using Members = std::vector<OperationId>;

// Whether every member can reach every other through values that one of them writes.
bool connected(const GroupMaker& maker, const Members& members) {
  std::set<OperationId> left(members.begin(), members.end());
  Members open{members.front()};
  left.erase(members.front());
  auto reach = [&](const std::vector<OperationId>& others) {
    for (OperationId o : others)
      if (left.erase(o)) open.push_back(o);
  };
  while (!open.empty()) {
    const Operation& at = maker.graph()[open.back()];
    open.pop_back();
    for (ValueId v : at.operands) reach(maker.uses().writers[v.index()]);
    for (ValueId v : at.results) reach(maker.uses().readers[v.index()]);
  }
  return left.empty();
}

std::size_t parallel_dims(const Operator& op) {
  return static_cast<std::size_t>(
      std::count_if(op.dims.begin(), op.dims.end(), [](const IndexDim& d) { return d.role == DimRole::parallel; }));
}

// A partition of the graph's operations; a group has the number of one of them.
struct Grouping {
  std::vector<std::uint32_t> group;  // by operation
  std::vector<Members> members;      // by number, in order
  Crossing cost;
};
using GroupNumbers = std::set<std::uint32_t>;

class GroupSearch {
 public:
  GroupSearch(const GroupMaker& maker, const FusionLimits& limits)
      : maker_(maker), graph_(maker.graph()), limits_(limits) {}

  std::vector<Members> run() {
    std::vector<Grouping> best{alone()};
    std::size_t width = std::clamp<std::size_t>(2'000 / (graph_.operations.size() + 1), 2, limits_.groupings);
    for (int round = 0; round < rounds; ++round)
      for (ValueId v : values_by_size()) best = next(std::move(best), v, width);
    std::vector<Members> found;
    for (Members& members : best.front().members)
      if (members.size() > 1) found.push_back(std::move(members));
    return found;
  }

 private:
  Grouping alone() const {
    Grouping g;
    g.group.resize(graph_.operations.size());
    std::iota(g.group.begin(), g.group.end(), 0);
    for (std::size_t o = 0; o < g.group.size(); ++o) {
      g.members.push_back({OperationId(o)});
      g.cost += crossing_of(maker_, g.members.back());
    }
    return g;
  }

  std::vector<ValueId> values_by_size() const {
    std::vector<ValueId> values;
    for (std::size_t v = 0; v < graph_.values.size(); ++v)
      if (!maker_.uses().readers[v].empty()) values.push_back(ValueId(v));
    std::stable_sort(values.begin(), values.end(),
                     [&](ValueId a, ValueId b) { return total_bytes(graph_[a].type) > total_bytes(graph_[b].type); });
    return values;
  }

  // Each grouping unchanged, and with the value's writers and readers together, or with one of the readers; keeps the
  // best.
  std::vector<Grouping> next(std::vector<Grouping> groupings, ValueId value, std::size_t width) {
    const auto &writers = maker_.uses().writers[value.index()], &readers = maker_.uses().readers[value.index()];
    std::vector<std::vector<OperationId>> candidates{writers};
    candidates[0].insert(candidates[0].end(), readers.begin(), readers.end());
    for (std::size_t r = 0; r < std::min(readers.size(), max_candidates) && !writers.empty(); ++r) {
      candidates.push_back(writers);
      candidates.back().push_back(readers[r]);
    }
    std::vector<Grouping> all;
    for (Grouping& g : groupings) {
      for (const auto& candidate : candidates)
        if (auto merged = together(g, candidate)) all.push_back(std::move(*merged));
      all.push_back(std::move(g));
    }
    std::stable_sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.cost < b.cost; });
    std::vector<Grouping> best;
    for (Grouping& g : all) {
      if (best.size() == width) break;
      bool known = std::any_of(best.begin(), best.end(), [&](auto& b) { return b.group == g.group; });
      if (!known) best.push_back(std::move(g));
    }
    return best;
  }

  // Merges the groups of these operations, and those between them, if that is possible and better.
  std::optional<Grouping> together(const Grouping& grouping, const std::vector<OperationId>& operations) {
    GroupNumbers numbers;
    for (OperationId o : operations) numbers.insert(grouping.group[o.index()]);
    if (numbers.size() < 2) return std::nullopt;
    close(grouping, numbers);
    Members members;
    Crossing before;
    for (std::uint32_t n : numbers) {
      const Members& part = grouping.members[n];
      members.insert(members.end(), part.begin(), part.end());
      before += crossing_of(maker_, part);
    }
    if (members.size() > most_members) return std::nullopt;
    std::sort(members.begin(), members.end());
    Crossing after = crossing_of(maker_, members);
    if (!(after < before) || !possible(members)) return std::nullopt;
    Grouping merged = grouping;
    for (std::uint32_t n : numbers) merged.members[n].clear();
    for (OperationId o : members) merged.group[o.index()] = *numbers.begin();
    merged.members[*numbers.begin()] = std::move(members);
    merged.cost += after;
    merged.cost -= before;
    return merged;
  }

  // Adds the groups on paths that leave these groups and return.
  void close(const Grouping& grouping, GroupNumbers& numbers) const {
    std::vector<bool> after = reach(grouping, numbers, true);
    bool back = std::any_of(numbers.begin(), numbers.end(), [&](std::uint32_t n) { return after[n]; });
    if (!back) return;
    std::vector<bool> before = reach(grouping, numbers, false);
    for (std::uint32_t n = 0; n < after.size(); ++n)
      if (after[n] && before[n]) numbers.insert(n);
  }

  // By group, whether it comes after (or before) these, by a path that leaves them.
  std::vector<bool> reach(const Grouping& grouping, const GroupNumbers& from, bool forwards) const {
    std::vector<bool> seen(grouping.group.size(), false);
    std::vector<std::uint32_t> open(from.begin(), from.end());
    while (!open.empty()) {
      std::uint32_t at = open.back();
      open.pop_back();
      for (OperationId o : grouping.members[at])
        for (ValueId v : forwards ? graph_[o].results : graph_[o].operands)
          for (OperationId other : forwards ? maker_.uses().readers[v.index()] : maker_.uses().writers[v.index()]) {
            std::uint32_t n = grouping.group[other.index()];
            bool leaves = n != at && !(from.count(n) && from.count(at));
            if (!leaves || seen[n]) continue;
            seen[n] = true;
            if (!from.count(n)) open.push_back(n);
          }
    }
    return seen;
  }

  bool possible(const Members& members) {
    auto [it, fresh] = possible_.emplace(members, false);
    if (fresh) it->second = group_within(maker_, members, limits_).has_value();
    return it->second;
  }

  static constexpr std::size_t most_members = 64;
  static constexpr std::size_t max_candidates = 8;
  static constexpr int rounds = 2;  // the second round sees the merges of the first
  const GroupMaker& maker_;
  const Graph& graph_;
  const FusionLimits& limits_;
  std::map<Members, bool> possible_;
};

}  // namespace

Crossing crossing_of(const GroupMaker& maker, const std::vector<OperationId>& operations) {
  std::set<ValueId> written, read;
  for (OperationId o : operations) {
    written.insert(maker.graph()[o].results.begin(), maker.graph()[o].results.end());
    read.insert(maker.graph()[o].operands.begin(), maker.graph()[o].operands.end());
  }
  Crossing cost;
  for (ValueId v : written) {
    if (!maker.escapes(v, operations)) continue;
    cost.escaping += total_bytes(maker.graph()[v].type);
    cost.crossing += total_bytes(maker.graph()[v].type);
  }
  for (ValueId v : read)
    if (!written.count(v)) cost.crossing += total_bytes(maker.graph()[v].type);
  return cost;
}

std::optional<MadeGroup> group_within(const GroupMaker& maker, const std::vector<OperationId>& operations,
                                      const FusionLimits& limits) {
  for (OperationId o : operations)
    if (maker.program()[maker.graph()[o].op].region()) return std::nullopt;
  GroupOutcome outcome = maker.make(operations, limits.recompute);
  auto* made = std::get_if<MadeGroup>(&outcome);
  if (!made || made->facts.inner_bytes > limits.inner_bytes || made->facts.operand_bytes > limits.operand_bytes)
    return std::nullopt;
  // Operations that only share inputs, or have no dim in common, must not lose dims that they could run over
  // separately.
  std::size_t shared = parallel_dims(made->op);
  bool unrelated = shared == 0 || !connected(maker, operations);
  for (OperationId o : operations) {
    bool escapes = std::any_of(maker.graph()[o].results.begin(), maker.graph()[o].results.end(), [&](ValueId v) {
      return std::find(made->results.begin(), made->results.end(), v) != made->results.end();
    });
    if (unrelated && escapes && parallel_dims(maker.program()[maker.graph()[o].op]) != shared) return std::nullopt;
  }
  return std::move(*made);
}

std::vector<std::vector<OperationId>> choose_groups(const GroupMaker& maker, const FusionLimits& limits) {
  return GroupSearch(maker, limits).run();
}

}  // namespace tap::passes
