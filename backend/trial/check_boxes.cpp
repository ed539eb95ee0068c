#include "backend/trial/check_boxes.h"

#include <algorithm>
#include <tuple>

namespace tap::backend {
namespace {

// The smallest size with at least this many points that the loops allow.
std::int64_t allowed(std::int64_t whole, std::int64_t rest_of, std::int64_t least) {
  if (rest_of == 0) return whole;
  std::int64_t size = whole % rest_of;
  if (size < least) size += (least - size + rest_of - 1) / rest_of * rest_of;
  return std::min(size, whole);
}

// Decreasing sizes: the whole, two steps and the tail, one step and the tail, a few points.
std::vector<std::int64_t> ladder(std::int64_t whole, const BoxStep& step) {
  constexpr std::int64_t few = 3;
  std::vector<std::int64_t> sizes{whole};
  std::int64_t rest = whole % step.step;
  if (rest == 0 && step.rest_of == 1) rest = 1;
  for (std::int64_t least : {2 * step.step + rest, step.step + rest, few}) {
    const std::int64_t size = allowed(whole, step.rest_of, least);
    sizes.push_back(std::min(size, sizes.back()));
  }
  return sizes;
}

// Dims that are merged, outermost first, and the sizes that they may have together.
struct Run {
  std::vector<std::size_t> dims;
  std::vector<std::int64_t> ladder;  // decreasing
  Shrinks how = Shrinks::with_others;
  std::size_t rung = 0;
};

// The sizes by dim of that many points: whole dims inside one that is a part, and one point of each dim outside it.
// Nothing if they are not contiguous.
std::optional<std::vector<std::int64_t>> sizes_within(const ir::Box& whole, const Run& run, std::int64_t points) {
  std::vector<std::int64_t> sizes(run.dims.size(), 1);
  for (std::size_t k = run.dims.size(); k-- > 0;) {
    const std::int64_t size = whole.dims[run.dims[k]].size();
    sizes[k] = std::min(size, points);
    if (points <= size) return sizes;
    if (points % size != 0) return std::nullopt;
    points /= size;
  }
  return std::nullopt;
}

std::vector<Run> runs_of(const ir::Box& whole, const std::vector<BoxStep>& steps, const std::vector<Shrinks>& how) {
  std::vector<Run> runs;
  std::vector<std::optional<std::size_t>> inside(whole.rank());
  for (std::size_t d = 0; d < whole.rank(); ++d)
    if (steps[d].within) inside[*steps[d].within] = d;
  for (std::size_t d = 0; d < whole.rank(); ++d) {
    if (steps[d].within) continue;
    Run run;
    std::int64_t points = 1;
    for (std::optional<std::size_t> at = d; at; at = inside[*at]) {
      run.dims.push_back(*at);
      run.how = std::max(run.how, how[*at]);
      points *= whole.dims[*at].size();
    }
    run.ladder = ladder(points, steps[run.dims.back()]);
    if (run.how == Shrinks::never) run.ladder.resize(1);
    for (std::int64_t& size : run.ladder)
      while (!sizes_within(whole, run, size)) size += steps[run.dims.back()].rest_of;
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

std::optional<std::vector<std::int64_t>> choose_sizes(const ir::Box& whole, const std::vector<BoxStep>& steps,
                                                      const std::vector<Shrinks>& how, const CheckBudget& budget,
                                                      const std::function<double(const ir::Box&)>& points) {
  std::vector<Run> runs = runs_of(whole, steps, how);
  std::vector<std::int64_t> sizes = whole.shape();
  auto count = [&] { return points(box_at(whole, sizes, false)); };
  // Reduces all runs rung by rung, the largest first.
  for (double now = count(); now > budget.points; now = count()) {
    Run* next = nullptr;
    auto order = [](const Run& run) { return std::tuple(run.how, run.rung, -run.ladder[run.rung]); };
    for (Run& run : runs) {
      while (run.rung + 1 < run.ladder.size() && run.ladder[run.rung + 1] == run.ladder[run.rung]) ++run.rung;
      if (run.rung + 1 == run.ladder.size()) continue;
      if (!next || order(run) < order(*next)) next = &run;
    }
    if (!next) return now <= budget.most ? std::optional(sizes) : std::nullopt;
    const auto own = sizes_within(whole, *next, next->ladder[++next->rung]);
    for (std::size_t k = 0; k < next->dims.size(); ++k) sizes[next->dims[k]] = (*own)[k];
  }
  return sizes;
}

ir::Box box_at(const ir::Box& whole, const std::vector<std::int64_t>& sizes, bool at_end) {
  ir::Box box = whole;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    ir::Range& range = box.dims[d];
    if (range.empty()) continue;
    if (at_end) range.lo = range.hi - sizes[d];
    else range.hi = range.lo + sizes[d];
  }
  return box;
}

}  // namespace tap::backend
