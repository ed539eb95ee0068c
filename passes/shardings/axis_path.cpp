#include "passes/shardings/axis_path.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "ir/shardings/mesh_position.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

std::vector<Axes> axes_per_dim(const Mesh& mesh, const Sharding& sharding) {
  std::vector<Axes> lists;
  for (const DimSharding& dim : sharding.dims) {
    lists.emplace_back();
    for (const AxisRef& axis : dim.axes)
      if (size_of(mesh, axis) > 1) lists.back().push_back(axis);
  }
  return lists;
}

std::size_t common(const Axes& a, const Axes& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

Axes tail(const Axes& axes, std::size_t begin) {
  return {axes.begin() + static_cast<std::ptrdiff_t>(begin), axes.end()};
}

void extend(Axes& axes, const Axes& more) { axes.insert(axes.end(), more.begin(), more.end()); }

}  // namespace

AxisPath::AxisPath(const Mesh& mesh, Shape shape, const Sharding& from, const Sharding& to, Axes partial)
    : mesh_(mesh),
      shape_(std::move(shape)),
      like_{from.mesh, {}, {}, without(mesh, from.unreduced, partial), ""},
      now_(axes_per_dim(mesh, from)),
      target_(axes_per_dim(mesh, to)),
      partial_(std::move(partial)),
      monoid_(from.unreduced_monoid) {}

bool AxisPath::walk(bool devices_change) {
  align();
  // If every axis divides every larger one, one round suffices.
  for (int round = 0; round < 3 && (!done() || devices_change); ++round) {
    slice();
    if (combine()) slice();
    permute(devices_change);
    devices_change = false;
    all_to_alls(true);
    all_to_alls(false);
    gather();
  }
  return done();
}

Axes AxisPath::excess(const Lists& lists, std::size_t dim) const {
  return tail(lists[dim], common(lists[dim], target_[dim]));
}
Axes AxisPath::missing(const Lists& lists, std::size_t dim) const {
  return tail(target_[dim], common(lists[dim], target_[dim]));
}

std::optional<AxisPath::Spot> AxisPath::missing_at(const Lists& lists, const AxisRef& axis) const {
  for (std::size_t d = 0; d < lists.size(); ++d) {
    Axes list = missing(lists, d);
    auto at = std::find(list.begin(), list.end(), axis);
    if (at != list.end()) return Spot{d, static_cast<std::size_t>(at - list.begin())};
  }
  return std::nullopt;
}

bool AxisPath::held(const Lists& lists, const AxisRef& axis) {
  return std::any_of(lists.begin(), lists.end(),
                     [&](const Axes& list) { return std::find(list.begin(), list.end(), axis) != list.end(); });
}

bool AxisPath::pending(const AxisRef& axis) const { return overlap(mesh_, partial_, Axes{axis}); }

std::int64_t AxisPath::size(const AxisRef& axis) const { return ir::size_of(mesh_, axis); }

bool AxisPath::divisible(const AxisRef& a, const AxisRef& b) const {
  return size(a) % size(b) == 0 || size(b) % size(a) == 0;
}

AxisPath::Fit AxisPath::fit(const AxisRef& axis, std::int64_t capacity) const {
  if (capacity <= 1) return Fit::none;
  if (capacity % size(axis) == 0) return Fit::whole;
  return size(axis) % capacity == 0 ? Fit::part : Fit::none;
}

void AxisPath::split(const AxisRef& axis, std::int64_t size) {
  auto parts = split_at(mesh_, {axis}, size);
  TAP_CHECK(parts && !parts->major.empty() && !parts->minor.empty(), "an axis is divided into two");
  for (Lists* lists : {&now_, &target_})
    for (Axes& list : *lists) {
      auto at = std::find(list.begin(), list.end(), axis);
      if (at == list.end()) continue;
      *at = parts->minor.front();
      list.insert(at, parts->major.front());
    }
}

void AxisPath::align() {
  std::set<std::pair<AxisId, std::int64_t>> ends;  // boundaries of digits, as products of sizes
  for (const Lists* lists : {&now_, &target_})
    for (const Axes& list : *lists)
      for (const AxisRef& axis : list) {
        SubAxis d = digit(mesh_, axis);
        ends.insert({axis.id, d.pre_size});
        ends.insert({axis.id, d.pre_size * d.size});
      }
  for (const AxisRef& axis : partial_) {
    SubAxis d = digit(mesh_, axis);
    ends.insert({axis.id, d.pre_size});
    ends.insert({axis.id, d.pre_size * d.size});
  }
  for (Lists* lists : {&now_, &target_})
    for (Axes& list : *lists) {
      Axes parts;
      for (const AxisRef& axis : list) {
        SubAxis rest = digit(mesh_, axis);
        for (const auto& [id, end] : ends)
          if (id == axis.id && end > rest.pre_size && end < rest.pre_size * rest.size) {
            parts.push_back(axis_of(mesh_, id, {rest.pre_size, end / rest.pre_size}));
            rest = {end, rest.pre_size * rest.size / end};
          }
        parts.push_back(axis_of(mesh_, axis.id, rest));
      }
      list = std::move(parts);
    }
}

// Assigns as many axes as the dim has room for, in order; others go to `rest`. False: an axis had to be split first.
bool AxisPath::assign_one(const Axes& axes, Axes& at, std::int64_t& capacity, Axes& rest) {
  for (const AxisRef& axis : axes) {
    Fit how = fit(axis, capacity);
    if (how == Fit::part) {
      split(axis, capacity);
      return false;
    }
    (how == Fit::whole ? at : rest).push_back(axis);
    if (how == Fit::whole) capacity /= size(axis);
  }
  return true;
}

bool AxisPath::assign(const Axes& axes, Lists& at, std::vector<std::int64_t>& capacity, Axes& rest) {
  rest = axes;
  for (std::size_t d = 0; d < at.size(); ++d) {
    Axes left;
    if (!assign_one(rest, at[d], capacity[d], left)) return false;
    rest = std::move(left);
  }
  return true;
}

Sharding AxisPath::sharding(const Lists& lists) const {
  Sharding result = like_;
  for (const Axes& list : lists) result.dims.push_back({merged(mesh_, list), false, {}});
  result.unreduced = in_mesh_order(mesh_, joined(mesh_, like_.unreduced, partial_));
  if (!result.unreduced.empty()) result.unreduced_monoid = monoid_;
  return result;
}

Collective& AxisPath::emit(CollectiveKind kind, Lists next) {
  Collective step;
  step.kind = kind;
  step.axes.resize(next.size());
  step.before = sharding(now_);
  now_ = std::move(next);
  step.after = sharding(now_);
  steps_.push_back(std::move(step));
  return steps_.back();
}

void AxisPath::slice() {
  while (!try_slice()) continue;
}

// Never slices a dim into more shards than it will have, except for axes that an all-to-all moves away: more would have
// to be moved back. False: an axis was split.
bool AxisPath::try_slice() {
  Lists next = now_;
  std::vector<std::int64_t> capacity;
  for (std::size_t d = 0; d < next.size(); ++d) {
    std::int64_t in = size(excess(next, d)), out = size(missing(next, d));
    capacity.push_back(out / std::gcd(in, out));
  }
  for (std::size_t d = 0; d < next.size(); ++d) extend(next[d], slice_before_all_to_all(next, d, capacity));
  Axes waiting, rest;
  for (std::size_t d = 0; d < next.size(); ++d) {
    Axes free;
    for (const AxisRef& axis : missing(now_, d)) {
      if (pending(axis)) break;
      if (!held(next, axis)) free.push_back(axis);
    }
    if (!assign_one(free, next[d], capacity[d], waiting)) return false;
  }
  if (!assign(waiting, next, capacity, rest)) return false;
  if (next == now_) return true;
  Lists added;
  for (std::size_t d = 0; d < next.size(); ++d) added.push_back(merged(mesh_, tail(next[d], now_[d].size())));
  emit(CollectiveKind::all_slice, std::move(next)).axes = std::move(added);
  return true;
}

// Axes after a dim's last one that go with it to the same other dim, [{}, {x}] → [{x, y}, {}], are sliced in the source
// dim, so that one all-to-all moves both.
Axes AxisPath::slice_before_all_to_all(const Lists& next, std::size_t from, std::vector<std::int64_t>& capacity) const {
  Axes source = excess(next, from);
  if (source.empty() || !missing(next, from).empty()) return {};
  auto spot = missing_at(next, source.back());
  if (!spot || !excess(next, spot->dim).empty()) return {};
  Axes target = missing(next, spot->dim);
  auto free = [&](const AxisRef& axis) { return !held(next, axis) && !pending(axis); };
  if (spot->index + 1 == target.size() || !free(target[spot->index + 1])) return {};
  // The axes to move are a suffix of the source in the order of the target, and no other axis there goes to that dim.
  std::size_t same = 0;
  std::int64_t moving = 1;
  while (same < source.size() && same <= spot->index &&
         source[source.size() - 1 - same] == target[spot->index - same]) {
    moving *= size(target[spot->index - same]);
    ++same;
  }
  for (std::size_t k = 0; k + same < source.size(); ++k)
    if (std::find(target.begin(), target.end(), source[k]) != target.end()) return {};
  Axes more;
  for (std::size_t k = spot->index + 1; k < target.size() && free(target[k]); ++k) more.push_back(target[k]);
  if (shape_[from] % (size(next[from]) * size(more)) != 0) return {};
  capacity[spot->dim] /= moving * size(more);
  return more;
}

// Combines partials: reduce-scatters along axes that are next in a dim, all-reduces along the others.
bool AxisPath::combine() {
  if (partial_.empty()) return false;
  Lists next = now_, scattered(now_.size());
  Axes over;
  for (std::size_t d = 0; d < next.size(); ++d)
    for (const AxisRef& axis : excess(now_, d).empty() ? missing(now_, d) : Axes{}) {
      if (!pending(axis)) break;
      next[d].push_back(axis);
      scattered[d].push_back(axis);
      over.push_back(axis);
    }
  auto reduce = [&](CollectiveKind kind, const Axes& axes, const Lists& lists) -> Collective& {
    Sharding before = sharding(now_);
    partial_ = without(mesh_, partial_, axes);
    Collective& step = emit(kind, lists);
    step.before = std::move(before);
    step.over = in_mesh_order(mesh_, axes);
    return step;
  };
  if (!over.empty()) {
    Collective& step = reduce(CollectiveKind::reduce_scatter, over, next);
    for (std::size_t d = 0; d < scattered.size(); ++d) step.axes[d] = merged(mesh_, scattered[d]);
  }
  if (!partial_.empty()) reduce(CollectiveKind::all_reduce, Axes(partial_), Lists(now_));
  return true;
}

void AxisPath::all_to_alls(bool in_place) {
  for (std::size_t d = 0; d < now_.size(); ++d)
    while (all_to_all(d, in_place)) continue;
}

// The minor axes of a dim that all go to one other dim.
bool AxisPath::all_to_all(std::size_t from, bool in_place) {
  Axes source = excess(now_, from);
  std::optional<std::size_t> to;
  std::size_t begin = source.size();
  for (; begin > 0; --begin) {
    auto spot = missing_at(now_, source[begin - 1]);
    if (!spot || spot->dim == from || (to && spot->dim != *to)) break;
    to = spot->dim;
  }
  if (!to) return false;
  Axes moved = tail(source, begin), target = missing(now_, *to);
  bool fits = excess(now_, *to).empty() && common(moved, target) == moved.size();
  if (in_place && !fits) return false;
  Lists next = now_;
  next[from].resize(next[from].size() - moved.size());
  extend(next[*to], moved);
  Collective& step = emit(CollectiveKind::all_to_all, std::move(next));
  step.over = merged(mesh_, moved);
  step.from_dim = static_cast<std::uint32_t>(from);
  step.to_dim = static_cast<std::uint32_t>(*to);
  return true;
}

void AxisPath::gather() {
  Lists next = now_, gathered(now_.size());
  for (std::size_t d = 0; d < next.size(); ++d)
    while (!excess(next, d).empty() && !held(target_, next[d].back())) {
      gathered[d].insert(gathered[d].begin(), next[d].back());
      next[d].pop_back();
    }
  if (next == now_) return;
  Collective& step = emit(CollectiveKind::all_gather, std::move(next));
  for (std::size_t d = 0; d < gathered.size(); ++d) step.axes[d] = merged(mesh_, gathered[d]);
}

}  // namespace tap::passes
