#include "passes/shardings/propagation_run.h"

#include <algorithm>

#include "ir/shardings/mesh_position.h"

namespace tap::passes {
namespace {

using ir::Sharding;

class Spreading {
 public:
  Spreading(ShardingNet& net, const ir::Program& program, const PropagationRunOptions& options,
            std::vector<Origin>& origins)
      : net_(net), program_(program), options_(options), origins_(origins), waiting_(net.hyperedges.size()) {}

  void run() {
    visit_results();
    for (std::uint32_t k = static_cast<std::uint32_t>(net_.hyperedges.size()); k-- > 0;) wake(k);
    while (!stack_.empty()) {
      std::uint32_t k = stack_.back();
      stack_.pop_back();
      waiting_[k] = false;
      visit(k);
    }
    visit_results();
  }

 private:
  // The callers' shardings of results precede those of operations, and receive theirs last.
  void visit_results() {
    for (std::uint32_t k = 0; k < net_.hyperedges.size(); ++k)
      if (net_.hyperedges[k].program_result) visit(k);
    for (std::uint32_t k : stack_) waiting_[k] = false;
    stack_.clear();
  }

  void wake(std::uint32_t k) {
    if (waiting_[k] || net_.hyperedges[k].program_result) return;
    waiting_[k] = true;
    stack_.push_back(k);
  }
  // Its writers, then its readers; the first reader is visited first.
  void wake_around(NodeId n, std::uint32_t except) {
    for (std::uint32_t k : net_.nodes[n].writers)
      if (k != except) wake(k);
    const auto& readers = net_.nodes[n].readers;
    for (auto k = readers.rbegin(); k != readers.rend(); ++k)
      if (*k != except) wake(*k);
  }

  NodeId node(const Hyperedge& hyperedge, std::size_t t) const {
    return t < hyperedge.operands.size() ? hyperedge.operands[t] : hyperedge.results[t - hyperedge.operands.size()];
  }
  static std::size_t size(const Hyperedge& hyperedge) { return hyperedge.operands.size() + hyperedge.results.size(); }

  // The only mesh of all tensors with a sharding; invalid if there is none, or more than one. A mesh without axes is
  // compatible with any.
  ir::MeshId mesh_of(const Hyperedge& hyperedge) const {
    ir::MeshId found;
    for (std::size_t t = 0; t < size(hyperedge); ++t) {
      const auto& sharding = net_.nodes[node(hyperedge, t)].sharding;
      if (!sharding) continue;
      const ir::Mesh& own = program_[sharding->mesh];
      if (!found.valid() || program_[found].axes.empty()) found = sharding->mesh;
      else if (const ir::Mesh& mesh = program_[found];
               !own.axes.empty() && !(own.axes == mesh.axes && own.devices == mesh.devices))
        return {};
    }
    return found;
  }

  Direction direction(const Hyperedge& hyperedge, const Factor& factor) const {
    Direction barrier = Direction::both;
    if (hyperedge.no_forward) barrier = barrier & Direction::backward;
    if (hyperedge.no_backward) barrier = barrier & Direction::forward;
    if (factor.kept || (options_.conservative && moves_cells(factor))) return Direction::none;
    if (hyperedge.program_result) return barrier;
    bool allowed = true;
    switch (options_.level) {
      case PropagationLevel::in_place: allowed = hyperedge.moves_no_data && !hyperedge.reused_operand; break;
      case PropagationLevel::in_place_all: allowed = hyperedge.moves_no_data; break;
      case PropagationLevel::pass_through:
        allowed = hyperedge.moves_no_data || factor.kind == FactorKind::pass_through;
        break;
      case PropagationLevel::all_except_repeated:
      case PropagationLevel::all: break;
    }
    return allowed ? barrier : Direction::none;
  }

  PropagationRole part(const Hyperedge& hyperedge, std::size_t t) const {
    if (t >= hyperedge.operands.size() || !hyperedge.broadcast[t] || options_.level == PropagationLevel::all)
      return PropagationRole::full;
    return options_.level <= PropagationLevel::in_place_all ? PropagationRole::absent : PropagationRole::listener;
  }

  void visit(std::uint32_t k) {
    const Hyperedge& hyperedge = net_.hyperedges[k];
    const ir::MeshId id = mesh_of(hyperedge);
    if (!id.valid() || program_[id].axes.empty()) return;
    const ir::Mesh& mesh = program_[id];
    SiteState state{mesh, *hyperedge.factors,    {},
                    {},   hyperedge.elementwise, options_.conservative && !hyperedge.program_result};
    bool any = false;
    for (const Factor& factor : hyperedge.factors->factors) {
      state.directions.push_back(direction(hyperedge, factor));
      any = any || state.directions.back() != Direction::none;
    }
    if (!any) return;
    std::vector<std::optional<Sharding>> before;
    for (std::size_t t = 0; t < size(hyperedge); ++t) {
      bool result = t >= hyperedge.operands.size();
      const TensorFactors& shape = result ? hyperedge.factors->results[t - hyperedge.operands.size()]
                                          : hyperedge.factors->operands[t];
      before.push_back(net_.nodes[node(hyperedge, t)].sharding);
      state.tensors.push_back(
          {&shape, axes_by_factor(mesh, *hyperedge.factors, shape, before.back()), result, part(hyperedge, t)});
    }
    std::vector<SiteTensor> old = state.tensors;
    std::vector<bool> grown = propagate_factors(state, options_.strategy);
    for (std::size_t t = 0; t < grown.size(); ++t) {
      if (!grown[t]) continue;
      Node& changed = net_.nodes[node(hyperedge, t)];
      if (changed.sharding != before[t]) wake(k);  // the same value was just changed through another access
      else
        update(k, t, sharding_from(mesh, id, *hyperedge.factors, *state.tensors[t].shape, state.tensors[t].axes), old);
    }
  }

  static bool has_axes(const Sharding& sharding) {
    return std::any_of(sharding.dims.begin(), sharding.dims.end(), [](const auto& dim) { return !dim.axes.empty(); });
  }

  void update(std::uint32_t k, std::size_t t, const Sharding& found, const std::vector<SiteTensor>& old) {
    const Hyperedge& hyperedge = net_.hyperedges[k];
    NodeId n = node(hyperedge, t);
    if (net_.nodes[n].sharding ? found == *net_.nodes[n].sharding : !has_axes(found)) return;
    remember(k, t, found, old);
    net_.nodes[n].sharding = found;
    wake_around(n, k);
    if (net_.nodes[n].group == ~0u) return;
    for (NodeId member : net_.groups[net_.nodes[n].group]) {
      if (member == n) continue;
      remember_group(member, n, found);
      net_.nodes[member].sharding = found;
      wake_around(member, k);
    }
  }

  // The new axes of a dim, one by one.
  template <class Visit>
  void each_new(const std::optional<Sharding>& before, const Sharding& after, Visit visit) const {
    const ir::Mesh& mesh = program_[after.mesh];
    for (std::uint32_t d = 0; d < after.dims.size(); ++d) {
      ir::Axes had = before ? before->dims[d].axes : ir::Axes{};
      for (const ir::AxisRef& axis : without(mesh, after.dims[d].axes, had)) visit(mesh, d, axis);
    }
  }

  void remember(std::uint32_t k, std::size_t t, const Sharding& found, const std::vector<SiteTensor>& old) {
    const Hyperedge& hyperedge = net_.hyperedges[k];
    const Node& own = net_.nodes[node(hyperedge, t)];
    each_new(own.sharding, found, [&](const ir::Mesh& mesh, std::uint32_t d, const ir::AxisRef& axis) {
      Origin origin{own.graph, own.value, d, axis, hyperedge.operation, {}};
      for (std::size_t s = 0; s < old.size() && !origin.from; ++s) {
        if (s == t || old[s].part != PropagationRole::full) continue;
        for (std::uint32_t f : old[t].shape->axes[d].factors)
          if (const FactorAxes* its = old[s].axes.find(f); its && overlap(mesh, its->axes, {axis}) && !origin.from)
            origin.from = {net_.nodes[node(hyperedge, s)].graph, net_.nodes[node(hyperedge, s)].value};
      }
      origins_.push_back(std::move(origin));
    });
  }

  void remember_group(NodeId member, NodeId from, const Sharding& found) {
    const Node& own = net_.nodes[member];
    each_new(own.sharding, found, [&](const ir::Mesh&, std::uint32_t d, const ir::AxisRef& axis) {
      origins_.push_back({own.graph, own.value, d, axis, {}, {{net_.nodes[from].graph, net_.nodes[from].value}}});
    });
  }

  ShardingNet& net_;
  const ir::Program& program_;
  PropagationRunOptions options_;
  std::vector<Origin>& origins_;
  std::vector<bool> waiting_;
  std::vector<std::uint32_t> stack_;
};

}  // namespace

void run_propagation(ShardingNet& net, const ir::Program& program, const PropagationRunOptions& options,
                     std::vector<Origin>& origins) {
  Spreading(net, program, options, origins).run();
}

}  // namespace tap::passes
