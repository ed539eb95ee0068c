#include "cost/work/touched_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cost/work/loop_walk.h"

namespace tap::cost {

using namespace backend;
using ir::CellId, ir::CellOp;

namespace {

constexpr double lines_of_start = 2;

}  // namespace

TouchedAll TouchWalk::touches(const std::vector<Statement>& body) {
  TouchedAll all = none();
  touch(body, 1, all);
  return all;
}
TouchedAll TouchWalk::touches(const Statement& statement) {
  TouchedAll all = none();
  touch(statement, 1, all);
  return all;
}
TouchedAll TouchWalk::touches(const For& loop) {
  TouchedAll all = none();
  touch(loop, 1, all);
  return all;
}

Room TouchWalk::room_for(const TouchedAll& all) const {
  Room room(levels(), std::vector<double>(all.size(), 0));
  for (std::size_t c = 0; c < room.size(); ++c)
    for (std::uint32_t t = 0; t < all.size(); ++t)
      if (double& own = room[c][memory_of(kernel_, t)]; all[t]) own = std::max(own, room_for(t, *all[t], c));
  return room;
}

// Statements inside loops, each listed once.
const std::vector<TouchWalk::Access>& TouchWalk::accesses_of(const Statement& statement) {
  auto [known, fresh] = accesses_.try_emplace(&statement);
  if (!fresh) return known->second;
  std::vector<Access>& found = known->second;
  std::vector<CellId> open;
  if (auto* assign = std::get_if<Assign>(&statement.node)) open = assign->values;
  if (auto* let = std::get_if<Let>(&statement.node)) open = {let->value};
  if (auto* guard = std::get_if<Guard>(&statement.node); guard && guard->cell) open = {*guard->cell};
  if (auto* store = std::get_if<Store>(&statement.node))
    for (const Store::Target& target : store->targets) {
      Access access{target.tensor, {}, std::vector<bool>(target.at.size(), false), true};
      for (const ir::AffineExpr& at : target.at) access.at.push_back(terms_of(at));
      found.push_back(std::move(access));
      open.push_back(target.value);
    }
  std::unordered_map<CellId, bool> seen;
  while (!open.empty()) {
    const CellId id = open.back();
    open.pop_back();
    if (!seen.emplace(id, true).second) continue;
    for (CellId below : needs(kernel_, id)) open.push_back(below);
    if (kernel_.exprs[id].op != CellOp::read) continue;
    const Load& load = kernel_.loads[kernel_.exprs[id].attribute];
    Access access{load.tensor, {}, {}, false};
    for (const Coordinate& c : load.at) {
      access.at.push_back(terms_of(c.affine));
      access.data_dependent.push_back(c.data.has_value());
    }
    found.push_back(std::move(access));
  }
  return found;
}

Interval TouchWalk::extent_of(std::uint32_t tensor, std::size_t axis) const {
  const TensorArgument& t = kernel_.tensors[tensor];
  const Shape& shape = t.local ? t.local->extents : t.type.shape;
  return {0, static_cast<double>(shape[axis]) - 1};
}
// Its range, clipped to the tensor.
Interval TouchWalk::along(const Access& access, std::size_t axis) const {
  const Interval whole = extent_of(access.tensor, axis);
  if (access.data_dependent[axis]) return whole;
  Interval at = values_.of(access.at[axis]);
  if (!kernel_.tensors[access.tensor].local) {
    at.lo = std::clamp(at.lo, whole.lo, std::max(whole.hi, whole.lo));
    at.hi = std::clamp(at.hi, at.lo, std::max(whole.hi, at.lo));
  }
  at.hi = std::min(at.hi, at.lo + whole.hi);
  return at;
}

TouchWalk::Runs TouchWalk::runs_of(std::uint32_t tensor, const Touched& touched) const {
  const auto size = static_cast<double>(size_of(kernel_.tensors[tensor].type.element));
  const auto line = static_cast<double>(device_.core.line_bytes);
  double run = 1, runs = 1;  // contiguous cells, and how many such runs
  bool whole = true;
  for (std::size_t a = touched.box.size(); a-- > 0;) {
    // Differences of variables are treated as independent, limited to the axis.
    const double axis_extent = extent_of(tensor, a).hi + 1;
    const double extent =
        std::clamp(std::floor(touched.box[a].hi - touched.box[a].lo) + 1, 1.0, std::max(axis_extent, 1.0));
    (whole ? run : runs) *= extent;
    whole = whole && extent >= axis_extent;
  }
  return {std::ceil(run * size / line), runs};
}
double TouchWalk::bytes_of(std::uint32_t tensor, const Touched& touched) const {
  const auto size = static_cast<double>(size_of(kernel_.tensors[tensor].type.element));
  const auto line = static_cast<double>(device_.core.line_bytes);
  const Runs runs = runs_of(tensor, touched);
  return std::min(runs.lines * runs.count, std::max(touched.times, 1.0) * std::ceil(size / line)) * line;
}
double TouchWalk::starts_of(std::uint32_t tensor, const Touched& touched) const {
  return std::min(lines_of_start / runs_of(tensor, touched).lines, 1.0) * bytes_of(tensor, touched);
}
// The cache space that it takes: lines at equal distances may map to only a few sets, so that the other sets are
// useless.
double TouchWalk::room_for(std::uint32_t tensor, const Touched& touched, std::size_t level) const {
  const double bytes = bytes_of(tensor, touched);
  const TensorArgument& t = kernel_.tensors[tensor];
  const std::size_t rank = touched.box.size();
  if (level > 1 || rank < 2) return bytes;
  const auto size = static_cast<double>(size_of(t.type.element));
  const auto line = static_cast<double>(device_.core.line_bytes);
  const std::int64_t sets = level == 0 ? device_.core.l1_sets : 16 * device_.core.l1_sets;
  const double row = (extent_of(tensor, rank - 1).hi + 1) * size / line;
  if (row < 1 || row != std::floor(row) || row > 0x1p40) return bytes;
  const std::int64_t distinct_sets = sets / std::gcd(static_cast<std::int64_t>(row), sets);
  const double lines = std::ceil((touched.box.back().hi - touched.box.back().lo + 1) * size / line);
  const double used = std::min(static_cast<double>(distinct_sets) * lines, static_cast<double>(sets));
  const double rows = bytes / line / lines;
  return rows > static_cast<double>(distinct_sets) ? bytes * static_cast<double>(sets) / used : bytes;
}
void TouchWalk::touch(const std::vector<Statement>& body, double times, TouchedAll& all) {
  for (const Statement& statement : body) touch(statement, times, all);
}
void TouchWalk::touch(const Statement& statement, double times, TouchedAll& all) {
  if (auto* loop = std::get_if<For>(&statement.node)) return touch(*loop, times, all);
  if (auto* define = std::get_if<Define>(&statement.node)) return values_.define(*define);
  for (const Access& access : accesses_of(statement)) touch(access, times, all);
  if (auto* guard = std::get_if<Guard>(&statement.node)) {
    if (share_of(kernel_, *guard, values_) > 0) touch(guard->body, times, all);
  } else if (auto* section = std::get_if<Section>(&statement.node)) {
    touch(section->body, times, all);
  }
}
// From the least lower to the greatest upper bound, over all values of outer variables.
void TouchWalk::touch(const For& loop, double times, TouchedAll& all) {
  const Rounds rounds = rounds_of(loop, values_);
  double first = rounds.first, last = rounds.last, count = rounds.count;
  if (loop.kind == LoopKind::serial) {
    first = values_.bound(loop.lower, true).lo;
    const double end = values_.bound(loop.upper, false).hi;
    if (end <= first) return;
    last = loop.step == 1 ? end - 1
                          : first + (std::ceil((end - first) / static_cast<double>(loop.step)) - 1) *
                                        static_cast<double>(loop.step);
    count = std::max(count, 1.0);
  } else {
    const Interval lower = values_.bound(loop.lower, true);
    first = lower.lo;
    last = lower.hi + (rounds.last - rounds.first);
    if (!loop.upper.empty()) last = std::min(last, std::max(values_.bound(loop.upper, false).hi - 1, first));
  }
  values_.set(loop.variable, {first, last}, 0);
  touch(loop.body, times * count, all);
}
void TouchWalk::touch(const Access& access, double times, TouchedAll& all) {
  std::optional<Touched>& touched = all[access.tensor];
  const bool fresh = !touched;
  if (fresh) touched.emplace();
  for (std::size_t a = 0; a < access.at.size(); ++a) {
    const Interval one = along(access, a);
    if (fresh) touched->box.push_back(one);
    else touched->box[a] = {std::min(touched->box[a].lo, one.lo), std::max(touched->box[a].hi, one.hi)};
  }
  touched->times += times;
  (access.writes ? touched->writes : touched->reads) = true;
}

}  // namespace tap::cost
