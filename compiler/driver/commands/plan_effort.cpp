#include "compiler/driver/commands/plan_effort.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <optional>

#include "compiler/driver/median.h"
#include "compiler/driver/metrics/status_line.h"
#include "compiler/pipeline/pipeline.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

struct OutOfTime {};
using IsOver = std::function<bool()>;

PlanFront searched(const PlanQuestion& asked, const cost::SearchOptions& search, const IsOver& is_over) {
  StatusLine line(asked.with_progress && ::isatty(STDERR_FILENO) == 1);
  return search_meshes(asked.program, asked.meshes, search, [&](double part) {
    if (is_over && is_over()) throw OutOfTime{};
    line.show(part);
  });
}

// Plans within the limits; if there are none, others, for the smallest relaxation.
PlanFront front_within(const PlanQuestion& asked, cost::SearchOptions search, const Demands& demands,
                       const IsOver& is_over) {
  search.limits.at_most = {demands.seconds.value_or(cost::unlimited), demands.memory.value_or(cost::unlimited),
                           demands.traffic.value_or(cost::unlimited)};
  PlanFront front = searched(asked, search, is_over);
  if (!front.plans.empty()) return front;
  if (!front.problems.empty()) {
    std::vector<std::string> requested;
    for (const ir::Decision& line : asked.requested) requested.push_back(std::get<ir::PlannedSplit>(line).operation);
    throw pipeline::PlanRefused(front.problems, requested);
  }
  // Memory is still short, if it was limited.
  search.limits.at_most = {cost::unlimited, demands.memory ? std::numeric_limits<double>::max() : cost::unlimited,
                           cost::unlimited};
  return searched(asked, search, is_over);
}

PlanFront answer(const PlanQuestion& asked, std::size_t states, const IsOver& is_over) {
  cost::SearchOptions search = asked.search;
  search.limits.most_states = states;
  Demands demands = asked.demands;
  auto front_now = [&] { return front_within(asked, search, demands, is_over); };
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

PlanFront answer(const PlanQuestion& asked, std::size_t states) { return answer(asked, states, {}); }

PlanFront answer_within(double seconds, const PlanQuestion& asked) {
  constexpr double growth = 4, slack = 1.25;  // the time grows at most as the states do
  constexpr std::size_t least_states = 8, most_states = 1 << 20;
  const Stopwatch watch;
  std::optional<PlanFront> best;
  std::exception_ptr failure;  // few states may find no plan that meets the demands
  for (auto states = static_cast<double>(least_states);;) {
    const double begin = watch.seconds();
    const bool must_end = best.has_value() || failure;
    std::optional<std::size_t> labels;
    if (best) labels = best->labels;
    try {
      PlanFront found =
          answer(asked, static_cast<std::size_t>(states), [&] { return must_end && watch.seconds() > seconds; });
      found.states = static_cast<std::size_t>(states);
      best = std::move(found);
    } catch (const OutOfTime&) { break; } catch (const Failure&) {
      failure = std::current_exception();
    }
    if (best && (best->goal_is_exact || best->labels == labels)) break;  // more states change nothing
    const double now = watch.seconds(), factor = std::min(growth, (seconds - now) / ((now - begin) * slack));
    if (factor < 1.5 || states >= static_cast<double>(most_states)) break;
    states = std::min(std::floor(states * factor), static_cast<double>(most_states));
  }
  if (!best) std::rethrow_exception(failure);
  return std::move(*best);
}

}  // namespace tap::driver
