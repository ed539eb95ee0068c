#include "cost/work/traffic_walk.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "cost/work/loop_walk.h"

namespace tap::cost {

using namespace backend;
using ir::CellId, ir::CellOp;

namespace {

// One access in a statement.
struct Access {
  std::uint32_t tensor = 0;
  std::vector<ir::AffineExpr> at;
  std::vector<bool> data_dependent;  // by axis: data-dependent
  bool writes = false;
};

// The part of a tensor that some loops touch.
struct Touched {
  std::vector<Interval> box;
  double times = 0;  // accesses
  bool reads = false, writes = false;
};
using TouchedAll = std::vector<std::optional<Touched>>;  // by tensor

// By level and tensor.
using Missed = std::vector<std::vector<double>>;

class TrafficWalk {
 public:
  TrafficWalk(const Kernel& kernel, const ir::Box& box, const Device& device)
      : kernel_(kernel), device_(device), values_(kernel, box), decides_(deciding_variables(kernel)) {}

  std::vector<TensorWork> run() {
    const Missed missed = of(kernel_.body);
    const TouchedAll touched = touches(kernel_.body);
    std::vector<TensorWork> all(kernel_.tensors.size());
    for (std::size_t t = 0; t < all.size(); ++t) {
      all[t].local = kernel_.tensors[t].local.has_value();
      for (const std::vector<double>& level : missed) all[t].missed.push_back(level[t]);
      if (!touched[t]) continue;
      all[t].bytes = bytes_of(t, *touched[t]);
      all[t].reads = touched[t]->reads;
      all[t].writes = touched[t]->writes;
    }
    return all;
  }

 private:
  std::size_t levels() const { return device_.levels.empty() ? 0 : device_.levels.size() - 1; }
  Missed none() const { return Missed(levels(), std::vector<double>(kernel_.tensors.size(), 0)); }

  // Statements inside loops, each listed once.
  const std::vector<Access>& accesses_of(const Statement& statement) {
    auto [known, fresh] = accesses_.try_emplace(&statement);
    if (!fresh) return known->second;
    std::vector<Access>& found = known->second;
    std::vector<CellId> open;
    if (auto* assign = std::get_if<Assign>(&statement.node)) open = assign->values;
    if (auto* let = std::get_if<Let>(&statement.node)) open = {let->value};
    if (auto* guard = std::get_if<Guard>(&statement.node); guard && guard->cell) open = {*guard->cell};
    if (auto* store = std::get_if<Store>(&statement.node))
      for (const Store::Target& target : store->targets) {
        found.push_back({target.tensor, target.at, std::vector<bool>(target.at.size(), false), true});
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
        access.at.push_back(c.affine);
        access.data_dependent.push_back(c.data.has_value());
      }
      found.push_back(std::move(access));
    }
    return found;
  }

  Interval extent_of(std::uint32_t tensor, std::size_t axis) const {
    const TensorArgument& t = kernel_.tensors[tensor];
    const Shape& shape = t.local ? t.local->extents : t.type.shape;
    return {0, static_cast<double>(shape[axis]) - 1};
  }
  // Its range, clipped to the tensor.
  Interval along(const Access& access, std::size_t axis) const {
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

  double bytes_of(std::size_t tensor, const Touched& touched) const {
    const TensorArgument& t = kernel_.tensors[tensor];
    const auto size = static_cast<double>(size_of(t.type.element));
    const auto line = static_cast<double>(device_.core.line_bytes);
    double run = 1, runs = 1;  // contiguous cells, and how many such runs
    bool whole = true;
    for (std::size_t a = touched.box.size(); a-- > 0;) {
      // Differences of variables are treated as independent, limited to the axis.
      const double axis_extent = extent_of(static_cast<std::uint32_t>(tensor), a).hi + 1;
      const double extent =
          std::clamp(std::floor(touched.box[a].hi - touched.box[a].lo) + 1, 1.0, std::max(axis_extent, 1.0));
      (whole ? run : runs) *= extent;
      whole = whole && extent >= axis_extent;
    }
    const double lines = std::ceil(run * size / line) * runs;
    return std::min(lines, std::max(touched.times, 1.0) * std::ceil(size / line)) * line;
  }
  // The cache space that it takes: lines at equal distances may map to only a few sets, so that the other sets are
  // useless.
  double room_for(std::size_t tensor, const Touched& touched, std::size_t level) const {
    const double bytes = bytes_of(tensor, touched);
    const TensorArgument& t = kernel_.tensors[tensor];
    const std::size_t rank = touched.box.size();
    if (level > 1 || rank < 2) return bytes;
    const auto size = static_cast<double>(size_of(t.type.element));
    const auto line = static_cast<double>(device_.core.line_bytes);
    const std::int64_t sets = level == 0 ? device_.core.l1_sets : 16 * device_.core.l1_sets;
    const double row = (extent_of(static_cast<std::uint32_t>(tensor), rank - 1).hi + 1) * size / line;
    if (row < 1 || row != std::floor(row) || row > 0x1p40) return bytes;
    const std::int64_t distinct_sets = sets / std::gcd(static_cast<std::int64_t>(row), sets);
    const double lines = std::ceil((touched.box.back().hi - touched.box.back().lo + 1) * size / line);
    const double used = std::min(static_cast<double>(distinct_sets) * lines, static_cast<double>(sets));
    const double rows = bytes / line / lines;
    return rows > static_cast<double>(distinct_sets) ? bytes * static_cast<double>(sets) / used : bytes;
  }
  std::vector<double> room_for(const TouchedAll& all) const {
    std::vector<double> bytes(levels(), 0);
    for (std::size_t c = 0; c < bytes.size(); ++c) {
      std::vector<double> of_memory(all.size(), 0);
      for (std::uint32_t t = 0; t < all.size(); ++t)
        if (double& own = of_memory[memory_of(kernel_, t)]; all[t]) own = std::max(own, room_for(t, *all[t], c));
      bytes[c] = std::accumulate(of_memory.begin(), of_memory.end(), 0.0);
    }
    return bytes;
  }

  // With inner variables anywhere in their ranges.
  TouchedAll touches(const std::vector<Statement>& body) {
    TouchedAll all(kernel_.tensors.size());
    touch(body, 1, all);
    return all;
  }
  void touch(const std::vector<Statement>& body, double times, TouchedAll& all) {
    for (const Statement& statement : body) touch(statement, times, all);
  }
  void touch(const Statement& statement, double times, TouchedAll& all) {
    if (auto* loop = std::get_if<For>(&statement.node)) return touch(*loop, times, all);
    if (auto* define = std::get_if<Define>(&statement.node)) return values_.define(*define);
    for (const Access& access : accesses_of(statement)) touch(access, times, all);
    if (auto* guard = std::get_if<Guard>(&statement.node)) {
      if (share_of(*guard, values_) > 0) touch(guard->body, times, all);
    } else if (auto* section = std::get_if<Section>(&statement.node)) {
      touch(section->body, times, all);
    }
  }
  // From the least lower to the greatest upper bound, over all values of outer variables.
  void touch(const For& loop, double times, TouchedAll& all) {
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
  void touch(const Access& access, double times, TouchedAll& all) {
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

  static bool has_serial_loop(const std::vector<Statement>& body) {
    return std::any_of(body.begin(), body.end(), [](const Statement& s) {
      if (auto* loop = std::get_if<For>(&s.node)) return loop->kind == LoopKind::serial || has_serial_loop(loop->body);
      if (auto* guard = std::get_if<Guard>(&s.node)) return has_serial_loop(guard->body);
      if (auto* section = std::get_if<Section>(&s.node)) return has_serial_loop(section->body);
      return false;
    });
  }

  Missed of(const std::vector<Statement>& body) {
    if (!has_serial_loop(body)) return loaded_once(touches(body));
    Missed sum = none();
    for (const Statement& statement : body) add(sum, of(statement), 1);
    // Data of earlier statements is still cached for later ones, if everything fits.
    return with_reuse(touches(body), sum);
  }
  Missed of(const Statement& statement) {
    if (auto* loop = std::get_if<For>(&statement.node)) return of(*loop);
    if (auto* guard = std::get_if<Guard>(&statement.node)) {
      Missed inside = none();
      if (const double share = share_of(*guard, values_); share > 0) add(inside, of(guard->body), share);
      return inside;
    }
    if (auto* section = std::get_if<Section>(&statement.node)) return of(section->body);
    TouchedAll all(kernel_.tensors.size());
    touch(statement, 1, all);
    return loaded_once(all);
  }
  Missed of(const For& loop) {
    TouchedAll whole(kernel_.tensors.size());
    if (!has_serial_loop(loop.body) && loop.kind != LoopKind::serial) {
      touch(loop, 1, whole);
      return loaded_once(whole);
    }
    const Rounds rounds = rounds_of(loop, values_);
    Missed sum = none();
    std::vector<double> body(levels(), 0);
    for (const Sample& sample : samples_of(loop, rounds, decides_[loop.variable])) {
      values_.set(loop.variable, {sample.value, sample.value}, 0);
      const TouchedAll one = touches(loop.body);
      const std::vector<double> room = room_for(one);
      for (std::size_t c = 0; c < body.size(); ++c) body[c] = std::max(body[c], room[c]);
      values_.set(loop.variable, {sample.value, sample.value}, 0);
      add(sum, of(loop.body), sample.times);
    }
    touch(loop, 1, whole);
    return with_reuse(whole, sum, body);
  }

  Missed loaded_once(const TouchedAll& all) const {
    Missed once = none();
    for (std::size_t t = 0; t < all.size(); ++t)
      if (all[t])
        for (std::vector<double>& level : once) level[t] = bytes_of(t, *all[t]);
    return once;
  }
  Missed with_reuse(const TouchedAll& whole, Missed sum, const std::vector<double>& at_a_time) const {
    for (std::size_t c = 0; c < sum.size(); ++c) {
      const double kept = share_kept(at_a_time[c], device_.levels[c].bytes);
      for (std::size_t t = 0; t < whole.size(); ++t) {
        if (!whole[t]) continue;
        const double once = std::min(bytes_of(t, *whole[t]), sum[c][t]);
        sum[c][t] = kept * once + (1 - kept) * sum[c][t];
      }
    }
    return sum;
  }
  Missed with_reuse(const TouchedAll& whole, Missed sum) const {
    return with_reuse(whole, std::move(sum), room_for(whole));
  }
  static void add(Missed& sum, const Missed& part, double times) {
    for (std::size_t c = 0; c < sum.size(); ++c)
      for (std::size_t t = 0; t < sum[c].size(); ++t) sum[c][t] += times * part[c][t];
  }

  const Kernel& kernel_;
  const Device& device_;
  LoopValues values_;
  const std::vector<bool> decides_;
  std::unordered_map<const Statement*, std::vector<Access>> accesses_;
};

}  // namespace

double share_kept(double touched, double bytes) {
  if (bytes <= 0) return 0;
  return std::clamp((1.2 - touched / bytes) / 0.6, 0.0, 1.0);  // 1 up to 0.6 of its size, 0 from 1.2 on
}

std::vector<TensorWork> traffic_of(const Kernel& kernel, const ir::Box& box, const Device& device) {
  return TrafficWalk(kernel, box, device).run();
}

}  // namespace tap::cost
