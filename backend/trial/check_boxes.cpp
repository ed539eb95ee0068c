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

}  // namespace

std::optional<std::vector<std::int64_t>> choose_sizes(const ir::Box& whole, const std::vector<BoxStep>& steps,
                                                      const std::vector<Shrinks>& how, const CheckBudget& budget,
                                                      const std::function<double(const ir::Box&)>& points) {
  std::vector<std::vector<std::int64_t>> ladders;
  for (std::size_t d = 0; d < whole.rank(); ++d) {
    const std::int64_t size = whole.dims[d].size();
    ladders.push_back(how[d] == Shrinks::never ? std::vector<std::int64_t>(1, size) : ladder(size, steps[d]));
  }
  std::vector<std::size_t> rungs(whole.rank(), 0);
  std::vector<std::int64_t> sizes = whole.shape();
  auto count = [&] { return points(box_at(whole, sizes, false)); };
  // Reduces all dims rung by rung, the largest first.
  for (double now = count(); now > budget.points; now = count()) {
    std::optional<std::size_t> next;
    for (std::size_t d = 0; d < rungs.size(); ++d) {
      while (rungs[d] + 1 < ladders[d].size() && ladders[d][rungs[d] + 1] == sizes[d]) ++rungs[d];
      if (rungs[d] + 1 == ladders[d].size()) continue;
      if (!next || std::tuple(how[d], rungs[d], -sizes[d]) < std::tuple(how[*next], rungs[*next], -sizes[*next]))
        next = d;
    }
    if (!next) return now <= budget.most ? std::optional(sizes) : std::nullopt;
    sizes[*next] = ladders[*next][++rungs[*next]];
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
