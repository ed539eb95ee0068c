#include "compiler/driver/planning/plan_effort.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <optional>

#include "compiler/driver/median.h"
#include "compiler/driver/metrics/status_line.h"
#include "compiler/driver/process.h"
#include "compiler/pipeline/failures.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

struct OutOfTime {};

// Later searches are of the same meshes.
PlanFront searched(const PlanQuestion& asked, const cost::SearchOptions& search, MeshLimit& limit) {
  StatusLine line(asked.with_progress && ::isatty(STDERR_FILENO) == 1);
  PlanFront front = search_meshes(
      asked.forms, asked.meshes, search, [&](double part) { line.show(part); }, limit);
  limit = {front.first_meshes};
  return front;
}

// Plans within the limits; if there are none, others, for the smallest relaxation.
PlanFront front_within(const PlanQuestion& asked, cost::SearchOptions search, const Demands& demands,
                       MeshLimit& limit) {
  search.limits.at_most = {demands.seconds.value_or(cost::unlimited), demands.memory.value_or(cost::unlimited),
                           demands.traffic.value_or(cost::unlimited)};
  PlanFront front = searched(asked, search, limit);
  if (!front.plans.empty()) return front;
  if (!front.problems.empty()) {
    std::vector<std::string> requested;
    for (const ir::Decision& line : asked.requested) requested.push_back(std::get<ir::PlannedSplit>(line).operation);
    throw pipeline::PlanRefused(front.problems, requested);
  }
  // Memory is still short, if it was limited.
  search.limits.at_most = {cost::unlimited, demands.memory ? std::numeric_limits<double>::max() : cost::unlimited,
                           cost::unlimited};
  return searched(asked, search, limit);
}

bool is_interrupted() { return EndsWorkOnSignal::caught() != 0; }

PlanFront answer(const PlanQuestion& asked, std::size_t states, MeshLimit& limit, std::function<bool()> is_hurried) {
  cost::SearchOptions search = asked.search;
  search.limits.most_states = states;
  search.limits.is_hurried = std::move(is_hurried);
  Demands demands = asked.demands;
  auto front_now = [&] { return front_within(asked, search, demands, limit); };
  PlanFront front = front_now();
  keep_those_that_meet(front, demands);
  if (demands.memory) return front;
  // Then what the devices have is the limit, which takes another search only where it matters.
  demands.memory = search.cluster.least_memory();
  demands.memory_is_all = true;
  if (picked(front, asked.pick, asked.price).found.predicted.memory > *demands.memory) front = front_now();
  keep_those_that_meet(front, demands);
  return front;
}

}  // namespace

PlanFront answer(const PlanQuestion& asked, std::size_t states, std::size_t meshes) {
  MeshLimit limit{meshes};
  return answer(asked, states, limit, is_interrupted);
}

PlanFront answer_within(double seconds, const PlanQuestion& asked) {
  constexpr double growth = 4, slack = 1.25;  // the time grows at most as the states do
  constexpr std::size_t least_states = 8, most_states = 1 << 20;
  const Stopwatch watch;
  std::optional<PlanFront> best;
  std::exception_ptr failure;  // few states may find no plan that meets the demands
  // The first search is of as many meshes as there is time for.
  MeshLimit limit{0, [&](double expected) { return watch.seconds() + expected <= slack * seconds; }};
  for (auto states = static_cast<double>(least_states);;) {
    const double begin = watch.seconds();
    const bool must_end = best.has_value() || failure;
    std::optional<std::size_t> labels;
    if (best) labels = best->labels;
    auto is_hurried = [&] {
      if (must_end && (is_interrupted() || watch.seconds() > seconds)) throw OutOfTime{};
      return is_interrupted();
    };
    try {
      PlanFront found = answer(asked, static_cast<std::size_t>(states), limit, is_hurried);
      found.states = is_interrupted() ? 0 : static_cast<std::size_t>(states);
      best = std::move(found);
    } catch (const OutOfTime&) { break; } catch (const Failure&) {
      failure = std::current_exception();
    }
    if (is_interrupted()) break;
    if (best && (best->goal_is_exact || best->labels == labels)) break;  // more states change nothing
    const double now = watch.seconds(), factor = std::min(growth, (seconds - now) / ((now - begin) * slack));
    if (factor < 1.5 || states >= static_cast<double>(most_states)) break;
    states = std::min(std::floor(states * factor), static_cast<double>(most_states));
  }
  if (!best) std::rethrow_exception(failure);
  return std::move(*best);
}

}  // namespace tap::driver
