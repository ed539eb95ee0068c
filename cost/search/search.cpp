// The plans of a program over a mesh, from several sweeps: freely, from a given plan, and in stages along each mesh axis.
#include <algorithm>
#include <utility>

#include "cost/search/search_once.h"
#include "ir/graph.h"
#include "passes/shardings/sites.h"
#include "support/spare_threads.h"

namespace tap::cost {

using namespace ir;

namespace {

constexpr std::int64_t most_stages = 16;

void add(FoundFront& found, FoundFront more) {
  found.work.priced += more.work.priced;
  found.work.labels += more.work.labels;
  for (FoundPlan& plan : more.plans) {
    auto is_no_worse = [&](const FoundPlan& other) { return dominates(other.predicted, plan.predicted); };
    if (std::ranges::any_of(found.plans, is_no_worse)) continue;
    std::erase_if(found.plans, [&](const FoundPlan& other) { return dominates(plan.predicted, other.predicted); });
    found.plans.push_back(std::move(plan));
  }
  std::ranges::stable_sort(found.plans, {}, [](const FoundPlan& plan) { return plan.predicted.seconds; });
}

// Whether each operation of main may run at one coordinate of an axis: all are sites of one operation, and the program has
// no shardings.
bool may_have_stages(const Program& program) {
  passes::FactorTable factors(program);
  const Graph& graph = program[program.main];
  const std::vector<passes::Site> sites = passes::sites_of(program, graph, factors);
  return !passes::has_shardings(program) && sites.size() == graph.operations.size();
}

}  // namespace

FoundFront search(const Program& program, MeshId mesh, const SearchOptions& options) {
  FoundFront found = search_once(program, mesh, options, {}, {});
  SearchOptions silent = options;
  silent.progress = {};
  if (!options.start.decisions.empty()) add(found, search_once(program, mesh, silent, options.start, {}));
  if (!memory_is_short(options) || !options.kept.decisions.empty() || !may_have_stages(program)) return found;
  std::vector<FoundFront> staged(program[mesh].axes.size());
  for_each_item(staged.size(), options.spare, [&]() -> WorkOnItem {
    return [&](std::size_t a) {
      const std::int64_t size = program[mesh].axes[a].size;
      if (size > 1 && size <= most_stages && !is_hurried(options.limits))
        staged[a] = search_once(program, mesh, silent, {}, AxisId(a));
    };
  });
  for (FoundFront& front : staged) add(found, std::move(front));
  return found;
}

}  // namespace tap::cost
