#include "cost/decide/time_tiles.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/tensor_bytes.h"

namespace tap::cost {

using namespace ir;

namespace {

constexpr std::size_t most_values = 4;       // that a body computes; several operations may write one
constexpr std::size_t most_operations = 48;  // of all steps together: groups.cpp searches so many at once
constexpr std::int64_t most_steps = 16;

bool is_simple(const Program& program, const Graph& body) {
  std::set<ValueId> written;
  for (const Operation& o : body.operations) written.insert(o.results.begin(), o.results.end());
  return !written.empty() && written.size() <= most_values &&
         std::ranges::all_of(body.operations, [&](const Operation& o) {
           const Operator& op = program[o.op];
           return op.map() && op.blockings.empty();
         });
}

// Per power of two the number of steps, at most so many, that leaves the fewest trips over; not one that leaves some if a
// number a little larger leaves none. And all of them at once, if they are so few: no step of the state is then in memory.
std::vector<std::int64_t> steps_of(std::int64_t trips, std::size_t operations) {
  const auto limit = std::min(most_steps, static_cast<std::int64_t>(most_operations / operations));
  std::vector<std::int64_t> found;
  for (std::int64_t power = 2; power / 2 < limit && power <= trips / 2; power *= 2) {
    const std::int64_t most = std::min(power, limit);
    std::int64_t best = most;
    for (std::int64_t n = most - 1; n > power / 2; --n)
      if (trips % n < trips % best) best = n;
    const bool instead = !found.empty() && trips % best == 0 && trips % found.back() != 0 &&
                         2 * best <= 3 * found.back();
    if (instead) found.back() = best;
    else found.push_back(best);
  }
  if (trips > 1 && trips <= limit) found.push_back(trips);
  return found;
}

// By one step: its state before and after, and what it reads besides.
double moved_bytes(const Graph& graph, const Operation& iterate) {
  double bytes = 0;
  for (const auto* list : {&iterate.operands, &iterate.results})
    for (ValueId v : *list) bytes += total_bytes(graph[v].type);
  return bytes;
}

bool is_named(const std::set<std::string>& fixed, const std::string& name) {
  auto inside = fixed.lower_bound(name + "/");
  return fixed.count(name) || (inside != fixed.end() && inside->starts_with(name + "/"));
}

}  // namespace

std::vector<UnrollChoice> unroll_choices(const Program& program, const std::set<std::string>& fixed,
                                         double cached_bytes) {
  std::vector<UnrollChoice> choices;
  const Graph& main = program[program.main];
  const std::vector<std::string> names = operation_names(main);
  for (std::size_t o = 0; o < main.operations.size(); ++o) {
    const RegionBody* region = program[main.operations[o].op].region();
    if (!region || region->kind != RegionKind::iterate || names[o].empty() || is_named(fixed, names[o])) continue;
    if (!is_simple(program, program[region->graph]) || moved_bytes(main, main.operations[o]) <= cached_bytes) continue;
    auto steps = steps_of(region->trips.size(), program[region->graph].operations.size());
    if (!steps.empty()) choices.push_back({names[o], std::move(steps)});
  }
  return choices;
}

}  // namespace tap::cost
