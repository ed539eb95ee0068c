#include "compiler/driver/planning/plan_searches.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "compiler/driver/median.h"
#include "cost/machine/host.h"
#include "ir/shardings/mesh_position.h"
#include "support/spare_threads.h"

namespace tap::driver {

double least_of_goal(const cost::FoundFront& found, cost::Goal goal) {
  double least = cost::unlimited;
  for (const cost::FoundPlan& plan : found.plans) least = std::min(least, cost::value_of(plan.predicted, goal));
  return least;
}

cost::SearchOptions with_fewer_states(cost::SearchOptions options, std::size_t fewer) {
  constexpr std::size_t least = 8;
  options.limits.most_states =
      std::min(options.limits.most_states, std::max(options.limits.most_states / fewer, least));
  return options;
}

namespace {

using Progress = std::function<void(double)>;

// A search frees memory and allocates as much again, step by step. What goes back to the system between is cleared page
// by page when it returns: a quarter of the time of a large search.
void keep_freed_memory() {
#if defined(__GLIBC__)
  constexpr int mebibyte = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 32 * mebibyte);  // the most that glibc allows
  mallopt(M_TRIM_THRESHOLD, 128 * mebibyte);
  mallopt(M_TOP_PAD, 4 * mebibyte);
#endif
}

std::size_t axes_of(const MeshSearch& search) { return search.on().axes.size(); }
bool has_plans(const MeshSearch* search) { return !search->found.plans.empty(); }

// Whether the axes divide the devices where the levels of links do: 8 devices a node are [y: 8], [y: 2, z: 4], not [z: 16].
bool follows_links(const MeshSearch& search, const cost::Cluster& cluster) {
  const ir::Mesh& mesh = search.on();
  std::vector<std::int64_t> levels;
  for (const cost::Link& link : cluster.links)
    if (link.count > 0) levels.push_back((levels.empty() ? 1 : levels.back()) * link.count);
  std::int64_t inner = 1;
  for (std::size_t a = mesh.axes.size(); a-- > 1;) {
    inner *= mesh.axes[a].size;
    if (!levels.empty() && std::ranges::count(levels, inner) == 0) return false;
  }
  return true;
}

// Those that follow the links come first, and of these the ones with few axes, which take the least time.
std::vector<MeshSearch*> by_promise(std::vector<MeshSearch>& searches, const cost::Cluster& cluster) {
  std::vector<MeshSearch*> all;
  for (MeshSearch& search : searches) all.push_back(&search);
  std::ranges::stable_sort(
      all, {}, [&](const MeshSearch* search) { return std::pair(!follows_links(*search, cluster), axes_of(*search)); });
  return all;
}

// From those that have ended, of which the ones with as many axes say most; another axis multiplies the ways to divide an
// operation.
double expected_seconds(const MeshSearch& next, const std::vector<MeshSearch*>& searches) {
  constexpr double growth = 4;
  std::map<std::size_t, double> longest;  // by the number of axes
  for (const MeshSearch* other : searches)
    if (other->seconds > 0) longest[axes_of(*other)] = std::max(longest[axes_of(*other)], other->seconds);
  if (longest.empty()) return 0;
  auto nearest = longest.upper_bound(axes_of(next));
  if (nearest == longest.begin()) return nearest->second;
  --nearest;
  return nearest->second * std::pow(growth, static_cast<double>(axes_of(next) - nearest->first));
}

// Lines that divide operations may not fit all programs. Those of the first one are reported.
void add(cost::FoundFront& found, cost::FoundFront&& more, const std::vector<ir::Decision>& lines) {
  found.goal_is_exact = found.goal_is_exact && more.goal_is_exact;
  found.strategies += more.strategies;
  found.work.priced += more.work.priced;
  found.work.labels += more.work.labels;
  if (!more.problems.empty()) return;
  for (cost::FoundPlan& plan : more.plans) {
    std::vector<ir::Decision>& all = plan.sharded.plan.decisions;
    all.insert(all.begin(), lines.begin(), lines.end());
    found.plans.push_back(std::move(plan));
  }
}

// All forms of a program with few states, and then with all states: those that take little time, and of the others the one that
// is best with few.
cost::FoundFront search_forms(const MeshSearch& search, std::size_t& of_first, const cost::SearchOptions& options) {
  const std::size_t count = search.programs.size();
  std::vector<cost::FoundFront> fronts(count);
  std::mutex shown;
  auto run = [&](const std::vector<std::size_t>& forms, const cost::SearchOptions& limits, double begin, double end) {
    double sum = 0;  // of the parts that are done
    for_each_item(forms.size(), options.spare, [&]() -> WorkOnItem {
      return [&](std::size_t n) {
        cost::SearchOptions own = limits;
        own.times = search.programs[forms[n]].times;
        own.progress = [&, before = 0.0](std::size_t done, std::size_t all) mutable {
          const std::lock_guard lock(shown);
          const double now = static_cast<double>(done) / static_cast<double>(all);
          sum += now - std::exchange(before, now);
          const double part = begin + (end - begin) * sum / static_cast<double>(forms.size());
          options.progress(static_cast<std::size_t>(part * 1000), 1000);
        };
        fronts[forms[n]] = cost::search(search.programs[forms[n]].program, search.mesh, own);
      };
    });
  };
  const cost::SearchOptions coarse = count > 1 ? with_fewer_states(options, fewer_for_forms) : options;
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  run(all, coarse, 0, 0.5);
  std::vector<std::size_t> again;
  std::optional<std::size_t> best;
  for (std::size_t k = 0; k < count && coarse.limits.most_states < options.limits.most_states; ++k)
    if (is_quick(fronts[k]) || fronts[k].plans.empty()) again.push_back(k);
    else if (!best || least_of_goal(fronts[k], options.limits.goal) < least_of_goal(fronts[*best], options.limits.goal))
      best = k;
  if (best) again.push_back(*best);
  run(again, options, 0.5, 1);
  cost::FoundFront found;
  for (std::size_t k = 0; k < count; ++k) {
    if (k == 0) found.problems = fronts[k].problems;
    add(found, std::move(fronts[k]), search.programs[k].lines);
    if (k == 0) of_first = found.plans.size();
  }
  return found;
}

// A search is in a hurry, and another one has found plans.
struct Abandoned {};

// Several at the same time.
class SearchRuns {
 public:
  SearchRuns(std::vector<MeshSearch*> searches, const cost::SearchOptions& options, const Progress& progress,
             const MeshLimit& limit, bool any_plan)
      : searches_(std::move(searches)), options_(options), progress_(progress), limit_(limit), any_plan_(any_plan) {}

  void run() {
    for (MeshSearch* search : searches_) search->done = 0;
    for_each_item(searches_.size(), options_.spare, [this]() -> WorkOnItem {
      return [this](std::size_t) {
        if (MeshSearch* search = next()) run(*search);
      };
    });
  }

 private:
  void run(MeshSearch& search) {
    cost::SearchOptions own = options_;
    own.progress = [&](std::size_t done, std::size_t all) {
      show(search, static_cast<double>(done) / static_cast<double>(all));
    };
    if (options_.limits.is_hurried)
      own.limits.is_hurried = [this] {
        const bool is_hurried = options_.limits.is_hurried();
        if (is_hurried && any_plan_) throw Abandoned{};
        return is_hurried;
      };
    const Stopwatch watch;
    try {
      std::size_t of_first = 0;
      cost::FoundFront found = search_forms(search, of_first, own);
      const std::lock_guard lock(mutex_);
      search.found = std::move(found);
      search.of_first = of_first;
      search.seconds = watch.seconds();
      if (has_plans(&search)) any_plan_ = true;
    } catch (const Abandoned&) { return; }
  }
  // In order, so that the searches that begin are the first.
  MeshSearch* next() {
    const std::lock_guard lock(mutex_);
    if (at_ == searches_.size() || is_full_) return nullptr;
    MeshSearch& search = *searches_[at_];
    is_full_ = (any_plan_ && is_hurried(options_.limits)) ||
               (at_ > 0 && limit_.has_time_for && !limit_.has_time_for(expected_seconds(search, searches_)));
    if (is_full_) return nullptr;
    ++at_;
    search.has_begun = true;
    return &search;
  }
  void show(MeshSearch& search, double done) {
    const std::lock_guard lock(mutex_);
    search.done = done;
    double sum = 0;
    for (const MeshSearch* other : searches_) sum += other->done;
    if (progress_) progress_(sum / static_cast<double>(searches_.size()));
  }

  const std::vector<MeshSearch*> searches_;
  const cost::SearchOptions& options_;
  const Progress& progress_;
  const MeshLimit& limit_;
  std::atomic<bool> any_plan_;
  std::mutex mutex_;
  std::size_t at_ = 0;
  bool is_full_ = false;
};

// Where links differ, each order of axes is a mesh of its own: 64 devices have 16. All are searched with few states, and those
// again with all that are then the best.
void run_in_two_rounds(std::vector<MeshSearch*> all, const cost::SearchOptions& options, const Progress& progress,
                       const MeshLimit& limit) {
  constexpr std::size_t promising = 4, fewer_for_meshes = 16;
  if (all.size() <= promising) return SearchRuns(all, options, progress, limit, false).run();
  constexpr double first_part = 0.4;
  auto part = [&](double begin, double end) -> Progress {
    return [=, &progress](double done) {
      if (progress) progress(begin + (end - begin) * done);
    };
  };
  const cost::SearchOptions coarse = with_fewer_states(options, fewer_for_meshes);
  const Progress first = part(0, first_part), second = part(first_part, 1);
  SearchRuns(all, coarse, first, limit, false).run();
  if (coarse.limits.most_states == options.limits.most_states) return;
  std::erase_if(all, [](const MeshSearch* search) { return !search->has_begun; });
  auto best = [&](const MeshSearch* search) { return least_of_goal(search->found, options.limits.goal); };
  std::ranges::stable_sort(all, {}, best);
  const bool any = best(all.front()) < cost::unlimited;  // else limits are met by none of few states
  std::map<std::int64_t, std::size_t> chosen;            // by number of devices: fewer are slower, and may be cheaper
  std::vector<MeshSearch*> again;
  for (MeshSearch* search : all)
    if (!search->found.goal_is_exact && (!any || chosen[device_count(search->on())]++ < promising))
      again.push_back(search);
  const MeshLimit none;
  SearchRuns(again, options, second, none, any).run();
}

}  // namespace

void run_searches(std::vector<MeshSearch>& searches, cost::SearchOptions options, const Progress& progress,
                  const MeshLimit& limit) {
  keep_freed_memory();
  constexpr std::size_t most = 4;  // each takes memory
  SpareThreads spare(std::min(static_cast<std::size_t>(cost::usable_threads()), most) - 1);
  options.spare = &spare;
  std::vector<MeshSearch*> all;
  for (MeshSearch& search : searches) all.push_back(&search);
  if (limit.most > 0 || limit.has_time_for) all = by_promise(searches, options.cluster);
  else  // those that take longest begin first
    std::ranges::stable_sort(all, std::greater{}, [](const MeshSearch* search) { return axes_of(*search); });
  if (limit.most > 0) all.resize(std::min(limit.most, all.size()));
  run_in_two_rounds(std::move(all), options, progress, limit);
  std::erase_if(searches, [](const MeshSearch& search) { return !search.has_begun; });
}

}  // namespace tap::driver
