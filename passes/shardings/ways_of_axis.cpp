#include "passes/shardings/ways_of_axis.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "ir/graph.h"

namespace tap::passes {

// Dijkstra's algorithm over (node, dim), from all dims that have the axis.
class WaysOfAxis::Search {
 public:
  explicit Search(WaysOfAxis& ways) : ways_(ways), net_(ways.net_), obstacles_(ways.obstacles_) {}

  void run() {
    done_.resize(ways_.dims_.size());
    for (std::size_t s = 0; s < ways_.dims_.size(); ++s)
      if (!ends(s) && obstacles_.has_axis(ways_.dims_[s])) arrive(s, {{}, s, {}});
    while (!queue_.empty()) {
      const std::size_t s = std::get<2>(queue_.top());
      queue_.pop();
      if (done_[s]) continue;
      done_[s] = true;
      if (ends(s)) leave_ended(s);
      else leave(s);
    }
  }

 private:
  bool ends(std::size_t s) const { return s + 1 == ways_.first_[ways_.dims_[s].node + 1]; }

  void arrive(std::size_t s, Arrival arrival) {
    auto& known = ways_.arrivals_[s];
    if (done_[s] || (known && known->cost <= arrival.cost)) return;
    queue_.emplace(arrival.cost, ++number_, s);
    known = std::move(arrival);
  }

  void go(std::size_t from, std::size_t to, std::vector<Obstacle> obstacles, int ended = 0) {
    if (done_[to]) return;
    Cost cost = ways_.arrivals_[from]->cost;
    cost.ended += ended;
    cost.obstacles += static_cast<int>(obstacles.size());
    ++cost.steps;
    arrive(to, {cost, from, std::move(obstacles)});
  }

  template <class Visit>
  void each_access(NodeId n, Visit visit) const {
    for (const auto* list : {&net_.nodes[n].writers, &net_.nodes[n].readers})
      for (std::uint32_t k : *list)
        for (std::size_t t = 0; t < obstacles_.tensors(k); ++t)
          if (obstacles_.node(k, t) == n) visit(k, t);
  }

  void leave(std::size_t s) {
    const DimOfNode at = ways_.dims_[s];
    each_access(at.node, [&](std::uint32_t k, std::size_t t) {
      for (std::uint32_t f : obstacles_.dividing(k, t, at.dim))
        for (std::size_t other = 0; other < obstacles_.tensors(k); ++other)
          if (other != t && !goes_through_result(k, t, other)) step(s, {k, t, other, f});
    });
    const std::uint32_t group = net_.nodes[at.node].group;
    if (group == ~0u) return;
    for (NodeId member : net_.groups[group])
      if (member != at.node) go(s, ways_.state({member, at.dim}), {});
  }

  // Operands of an elementwise operation get no more than its result.
  bool goes_through_result(std::uint32_t k, std::size_t t, std::size_t other) const {
    const Hyperedge& edge = net_.hyperedges[k];
    return edge.elementwise && t < edge.operands.size() && other < edge.operands.size() &&
           ways_.found_.how.strategy == Strategy::aggressive;
  }

  void step(std::size_t s, const Step& step) {
    const NodeId to = obstacles_.node(step.hyperedge, step.to);
    const TensorFactors& tensor = obstacles_.shape(step.hyperedge, step.to);
    bool found = false;
    for (std::uint32_t d = 0; d < tensor.axes.size(); ++d) {
      const auto& factors = tensor.axes[d].factors;
      if (std::find(factors.begin(), factors.end(), step.factor) == factors.end()) continue;
      found = true;
      const std::size_t there = ways_.state({to, d});
      if (!done_[there]) go(s, there, obstacles_.between(step, ways_.dims_[s].dim, d));
    }
    if (!found) go(s, ways_.first_[to + 1] - 1, {obstacles_.without_dim(step, ways_.dims_[s].dim)}, 1);
  }

  // What ended is missing in all that is computed with it.
  void leave_ended(std::size_t s) {
    each_access(ways_.dims_[s].node, [&](std::uint32_t k, std::size_t t) {
      for (std::size_t other = 0; other < obstacles_.tensors(k); ++other)
        if (other != t) go(s, ways_.first_[obstacles_.node(k, other) + 1] - 1, {}, 1);
    });
  }

  WaysOfAxis& ways_;
  const ShardingNet& net_;
  const Obstacles& obstacles_;
  std::vector<bool> done_;
  using Entry = std::tuple<Cost, std::size_t, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::size_t number_ = 0;
};

WaysOfAxis::WaysOfAxis(const Propagated& found, ir::MeshId mesh, ir::AxisId axis)
    : found_(found), net_(*found.net), obstacles_(found, *found.net, mesh, axis) {
  for (NodeId n = 0; n < net_.nodes.size(); ++n) {
    first_.push_back(dims_.size());
    const ir::Value& value = found.program[net_.nodes[n].graph][net_.nodes[n].value];
    for (std::uint32_t d = 0; d <= value.type.shape.size(); ++d) dims_.push_back({n, d});
  }
  first_.push_back(dims_.size());
  arrivals_.resize(dims_.size());
  Search(*this).run();
}

WayOfAxis WaysOfAxis::way(std::size_t s) const {
  WayOfAxis out;
  if (s + 1 != first_[dims_[s].node + 1]) out.dim = dims_[s].dim;
  while (arrivals_[s]->from != s) {
    const std::vector<Obstacle>& here = arrivals_[s]->obstacles;
    out.obstacles.insert(out.obstacles.begin(), here.begin(), here.end());
    s = arrivals_[s]->from;
  }
  const Node& node = net_.nodes[dims_[s].node];
  out.source = {node.graph, node.value};
  out.source_dim = dims_[s].dim;
  return out;
}

std::optional<WayOfAxis> WaysOfAxis::to(ir::GraphId graph, ir::ValueId value) const {
  const NodeId n = net_.node_of(graph, value);
  std::optional<std::size_t> best;
  for (std::size_t s = first_[n]; s < first_[n + 1]; ++s)
    if (arrivals_[s] && (!best || arrivals_[s]->cost < arrivals_[*best]->cost)) best = s;
  if (!best) return std::nullopt;
  return way(*best);
}

std::vector<WayOfAxis> WaysOfAxis::lost(ir::GraphId graph, ir::ValueId value) const {
  const NodeId n = net_.node_of(graph, value);
  std::vector<WayOfAxis> out;
  for (std::size_t s = first_[n]; s + 1 < first_[n + 1]; ++s) {
    if (!arrivals_[s] || arrivals_[s]->cost.steps != 1) continue;
    WayOfAxis found = way(s);
    const bool conflict = std::any_of(found.obstacles.begin(), found.obstacles.end(),
                                      [](const Obstacle& o) { return o.kind == ObstacleKind::conflict; });
    if (conflict) out.push_back(std::move(found));
  }
  return out;
}

}  // namespace tap::passes
