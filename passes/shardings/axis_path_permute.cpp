// Decides when a permutation of boxes among devices pays, and to which axes.
#include <algorithm>
#include <set>

#include "passes/shardings/axis_path.h"

namespace tap::passes {

using namespace ir;

// It pays if it puts axes in place, [{x}] → [{y}]; if it orders them so that one all-to-all moves all axes for one dim,
// and axes to gather come before axes to move; or if it can replace an unneeded axis by a missing one.
bool AxisPath::permute_pays() const {
  std::optional<AxisRef> spare, lacking;
  for (std::size_t d = 0; d < now_.size(); ++d) {
    Axes in = excess(now_, d), out = missing(now_, d);
    if (!in.empty() && !out.empty() && divisible(in.front(), out.front())) return true;
    for (const AxisRef& axis : out)
      if (!held(now_, axis)) lacking = axis;
    std::optional<Spot> last;
    std::set<std::size_t> seen;
    for (const AxisRef& axis : in) {
      std::optional<Spot> spot = missing_at(now_, axis);
      if (spot) {
        bool follows = last && last->dim == spot->dim && last->index + 1 == spot->index;
        if ((spot->dim == d || seen.count(spot->dim)) && !follows) return true;
        seen.insert(spot->dim);
      } else {
        if (last && out.empty()) return true;
        spare = axis;
      }
      last = spot;
    }
  }
  return spare && lacking && divisible(*spare, *lacking);
}

void AxisPath::permute(bool devices_change) {
  Lists next = now_;
  if (permute_pays())
    while (!try_permute(next)) continue;
  if (next != now_ || devices_change) emit(CollectiveKind::collective_permute, std::move(next));
}

// Each dim keeps its number of shards. Missing axes replace excess ones of their dim; other missing axes go where there
// is room; before them come unneeded axes, at their old positions if possible. False: an axis was split.
bool AxisPath::try_permute(Lists& next) {
  const std::size_t rank = now_.size();
  Lists front(rank), middle(rank), back(rank), unneeded(rank);
  next = now_;
  std::vector<std::int64_t> capacity;
  Axes unassigned, rest;
  for (std::size_t d = 0; d < rank; ++d) {
    Axes in = excess(now_, d), out = missing(now_, d);
    next[d].resize(now_[d].size() - in.size());
    std::int64_t room = size(in), used = room;
    std::size_t placed = 0;
    for (; placed < out.size() && fit(out[placed], room) != Fit::none; ++placed) {
      if (fit(out[placed], room) == Fit::part) return split(out[placed], room), false;
      next[d].push_back(out[placed]);
      room /= size(out[placed]);
    }
    unassigned.insert(unassigned.end(), out.begin() + static_cast<std::ptrdiff_t>(placed), out.end());
    used /= room;
    capacity.push_back(room);
    // Axes that lost their positions come last, so that the others can keep theirs.
    Axes replaced;
    for (const AxisRef& axis : in) {
      if (missing_at(now_, axis)) continue;
      bool replaceable = used > 1 && unneeded[d].empty();
      if (replaceable && fit(axis, used) == Fit::part) return split(axis, used), false;
      replaceable = replaceable && fit(axis, used) == Fit::whole;
      if (replaceable) used /= size(axis);
      (replaceable ? replaced : unneeded[d]).push_back(axis);
    }
    unneeded[d].insert(unneeded[d].end(), replaced.begin(), replaced.end());
  }
  if (!assign(unassigned, back, capacity, rest)) return false;
  Axes left;
  for (std::size_t d = 0; d < rank; ++d)
    if (!assign_one(unneeded[d], middle[d], capacity[d], left)) return false;
  if (!assign(left, front, capacity, rest)) return false;
  for (std::size_t d = 0; d < rank; ++d) {
    for (const Axes* part : {&front[d], &middle[d], &back[d]})
      next[d].insert(next[d].end(), part->begin(), part->end());
    if (capacity[d] != 1) next = now_;  // no axis fills this room
    if (capacity[d] != 1) return true;
  }
  return true;
}

}  // namespace tap::passes
