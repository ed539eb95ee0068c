#include "passes/shardings/spread.h"

#include <algorithm>

#include "ir/shardings/mesh_position.h"

namespace tap::passes {
namespace {

using ir::Sharding;

class Spreading {
 public:
  Spreading(ShardingNet& net, const ir::Program& program, const SpreadOptions& options, std::vector<Origin>& origins)
      : net_(net), program_(program), options_(options), origins_(origins), waiting_(net.knots.size()) {}

  void run() {
    visit_results();
    for (std::uint32_t k = static_cast<std::uint32_t>(net_.knots.size()); k-- > 0;) wake(k);
    while (!stack_.empty()) {
      std::uint32_t k = stack_.back();
      stack_.pop_back();
      waiting_[k] = false;
      visit(k);
    }
    visit_results();
  }

 private:
  // What the caller asked of the results comes before what operations say, and takes over last what they say.
  void visit_results() {
    for (std::uint32_t k = 0; k < net_.knots.size(); ++k)
      if (net_.knots[k].program_result) visit(k);
    for (std::uint32_t k : stack_) waiting_[k] = false;
    stack_.clear();
  }

  void wake(std::uint32_t k) {
    if (waiting_[k] || net_.knots[k].program_result) return;
    waiting_[k] = true;
    stack_.push_back(k);
  }
  // Whoever writes it, then who reads it; the first reader is visited first.
  void wake_around(NodeId n, std::uint32_t except) {
    for (std::uint32_t k : net_.nodes[n].writers)
      if (k != except) wake(k);
    const auto& readers = net_.nodes[n].readers;
    for (auto k = readers.rbegin(); k != readers.rend(); ++k)
      if (*k != except) wake(*k);
  }

  NodeId node(const Knot& knot, std::size_t t) const {
    return t < knot.operands.size() ? knot.operands[t] : knot.results[t - knot.operands.size()];
  }
  static std::size_t size(const Knot& knot) { return knot.operands.size() + knot.results.size(); }

  // The one mesh of all that have a sharding; null if there is none, or two. A mesh without axes fits with any.
  const ir::Mesh* mesh_of(const Knot& knot) const {
    const ir::Mesh* mesh = nullptr;
    for (std::size_t t = 0; t < size(knot); ++t) {
      const auto& sharding = net_.nodes[node(knot, t)].sharding;
      if (!sharding) continue;
      const ir::Mesh* own = mesh && mesh->name == sharding->mesh ? mesh : ir::find_mesh(program_, sharding->mesh);
      if (!mesh || mesh->axes.empty()) mesh = own;
      else if (!own->axes.empty() && !(own->axes == mesh->axes && own->devices == mesh->devices)) return nullptr;
    }
    return mesh;
  }

  Direction direction(const Knot& knot, const Factor& factor) const {
    Direction barrier = Direction::both;
    if (knot.no_forward) barrier = barrier & Direction::backward;
    if (knot.no_backward) barrier = barrier & Direction::forward;
    if (factor.kept || (options_.conservative && moves_cells(factor))) return Direction::none;
    if (knot.program_result) return barrier;
    bool allowed = true;
    switch (options_.level) {
      case SpreadLevel::in_place: allowed = knot.moves_nothing && !knot.reused_operand; break;
      case SpreadLevel::in_place_all: allowed = knot.moves_nothing; break;
      case SpreadLevel::pass_through: allowed = knot.moves_nothing || factor.kind == FactorKind::pass_through; break;
      case SpreadLevel::all_but_repeat:
      case SpreadLevel::all: break;
    }
    return allowed ? barrier : Direction::none;
  }

  SpreadRole part(const Knot& knot, std::size_t t) const {
    if (t >= knot.operands.size() || !knot.broadcast[t] || options_.level == SpreadLevel::all) return SpreadRole::full;
    return options_.level <= SpreadLevel::in_place_all ? SpreadRole::absent : SpreadRole::listener;
  }

  void visit(std::uint32_t k) {
    const Knot& knot = net_.knots[k];
    const ir::Mesh* mesh = mesh_of(knot);
    if (!mesh || mesh->axes.empty()) return;
    SiteState state{*mesh, *knot.factors, {}, {}, knot.elementwise, options_.conservative && !knot.program_result};
    bool any = false;
    for (const Factor& factor : knot.factors->factors) {
      state.directions.push_back(direction(knot, factor));
      any = any || state.directions.back() != Direction::none;
    }
    if (!any) return;
    std::vector<std::optional<Sharding>> before;
    for (std::size_t t = 0; t < size(knot); ++t) {
      bool result = t >= knot.operands.size();
      const TensorFactors& shape = result ? knot.factors->results[t - knot.operands.size()] : knot.factors->operands[t];
      before.push_back(net_.nodes[node(knot, t)].sharding);
      state.tensors.push_back(
          {&shape, axes_by_factor(*mesh, *knot.factors, shape, before.back()), result, part(knot, t)});
    }
    std::vector<SiteTensor> old = state.tensors;
    std::vector<bool> grown = propagate_factors(state, options_.strategy);
    for (std::size_t t = 0; t < grown.size(); ++t) {
      if (!grown[t]) continue;
      Node& changed = net_.nodes[node(knot, t)];
      if (changed.sharding != before[t]) wake(k);  // the same value, read in another way, has just been changed
      else update(k, t, sharding_from(*mesh, *knot.factors, *state.tensors[t].shape, state.tensors[t].axes), old);
    }
  }

  static bool has_axes(const Sharding& sharding) {
    return std::any_of(sharding.dims.begin(), sharding.dims.end(), [](const auto& dim) { return !dim.axes.empty(); });
  }

  void update(std::uint32_t k, std::size_t t, const Sharding& found, const std::vector<SiteTensor>& old) {
    const Knot& knot = net_.knots[k];
    NodeId n = node(knot, t);
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

  // What is new in a dim, axis by axis.
  template <class Tell>
  void each_new(const std::optional<Sharding>& before, const Sharding& after, Tell tell) const {
    const ir::Mesh& mesh = *ir::find_mesh(program_, after.mesh);
    for (std::uint32_t d = 0; d < after.dims.size(); ++d) {
      ir::Axes had = before ? before->dims[d].axes : ir::Axes{};
      for (const ir::AxisRef& axis : without(mesh, after.dims[d].axes, had)) tell(mesh, d, axis);
    }
  }

  void remember(std::uint32_t k, std::size_t t, const Sharding& found, const std::vector<SiteTensor>& old) {
    const Knot& knot = net_.knots[k];
    const Node& own = net_.nodes[node(knot, t)];
    each_new(own.sharding, found, [&](const ir::Mesh& mesh, std::uint32_t d, const ir::AxisRef& axis) {
      Origin origin{own.graph, own.value, d, axis, knot.operation, {}};
      for (std::size_t s = 0; s < old.size() && !origin.from; ++s) {
        if (s == t || old[s].part != SpreadRole::full) continue;
        for (std::uint32_t f : old[t].shape->axes[d].factors)
          if (const FactorAxes* its = old[s].axes.find(f); its && overlap(mesh, its->axes, {axis}) && !origin.from)
            origin.from = {net_.nodes[node(knot, s)].graph, net_.nodes[node(knot, s)].value};
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
  SpreadOptions options_;
  std::vector<Origin>& origins_;
  std::vector<bool> waiting_;
  std::vector<std::uint32_t> stack_;
};

}  // namespace

void spread(ShardingNet& net, const ir::Program& program, const SpreadOptions& options, std::vector<Origin>& origins) {
  Spreading(net, program, options, origins).run();
}

}  // namespace tap::passes
