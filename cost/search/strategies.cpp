#include "cost/search/strategies.h"

#include <algorithm>
#include <functional>

#include "ir/graph.h"
#include "ir/shardings/mesh_position.h"

namespace tap::cost {

using namespace ir;
using passes::Factor;
using passes::FactorKind;
using passes::Site;

namespace {

// Calls `each` with one choice per mesh axis, of `count` choices each: 0, 0; 1, 0; …
void for_each_choice(std::size_t axes, std::size_t count,
                     const std::function<void(const std::vector<std::size_t>&)>& each) {
  std::vector<std::size_t> choice(axes, 0);
  for (;;) {
    each(choice);
    std::size_t a = 0;
    while (a < axes && ++choice[a] == count) choice[a++] = 0;
    if (a == axes) return;
  }
}

bool can_be_split(const Factor& factor) {
  return factor.dim && !factor.kept && factor.kind != FactorKind::need_replication && factor.size > 1;
}

// What is not divided may be empty, too.
bool is_long_enough(const Mesh& mesh, const Axes& axes, std::int64_t size) {
  return axes.empty() || size_of(mesh, axes) <= size;
}

// Whether each device gets at least one point of what is divided.
bool are_large_enough(const Mesh& mesh, const passes::Factors& factors, const std::vector<Axes>& axes) {
  for (std::size_t f = 0; f < axes.size(); ++f)
    if (!is_long_enough(mesh, axes[f], factors.factors[f].size)) return false;
  return true;
}

// An axis of a tensor with several factors can be sharded along the major one only, or along a minor one if all that
// are major to it are divided completely.
bool are_expressible(const Mesh& mesh, const passes::Factors& factors, const std::vector<Axes>& axes) {
  for (const auto* list : {&factors.operands, &factors.results})
    for (const passes::TensorFactors& tensor : *list)
      for (const passes::AxisFactors& axis : tensor.axes)
        for (std::size_t k = 0; k + 1 < axis.factors.size(); ++k) {
          const std::uint32_t major = axis.factors[k];
          if (size_of(mesh, axes[major]) == factors.factors[major].size) continue;
          for (std::size_t minor = k + 1; minor < axis.factors.size(); ++minor)
            if (!axes[axis.factors[minor]].empty()) return false;
        }
  return true;
}

// The axis of the results along which a mesh axis of partials may be combined, for all results.
bool can_combine_along(const Mesh& mesh, const Graph& graph, const passes::SiteShardings& site,
                       const std::vector<Sharding>& stored, std::size_t axis, const AxisRef& over) {
  for (std::size_t r = 0; r < stored.size(); ++r) {
    const std::vector<passes::AxisFactors>& axes = site.site.factors.results[r].axes;
    if (axis >= axes.size() || axes[axis].factors.empty()) return false;
    const Factor& factor = site.site.factors.factors[axes[axis].factors.front()];
    if (!factor.dim || axes[axis].factors.size() > 1) return false;
    const std::int64_t extent = graph[site.site.results[r]].type.shape[axis];
    if (size_of(mesh, stored[r].dims[axis].axes) * size_of(mesh, over) > extent) return false;
  }
  return !stored.empty();
}

class Enumeration {
 public:
  Enumeration(const Program& program, const Graph& graph, const Site& site, MeshId mesh, std::size_t most,
              std::optional<AxisId> unused)
      : program_(program), graph_(graph), site_(site), id_(mesh), mesh_(program[mesh]), most_(most), unused_(unused) {}

  std::vector<Strategy> run() {
    std::vector<std::uint32_t> candidates;
    // Groups have no partials.
    const bool is_group = program_[graph_[site_.operations.front()].op].region() != nullptr;
    for (std::uint32_t f = 0; f < site_.factors.factors.size(); ++f)
      if (const Factor& factor = site_.factors.factors[f];
          can_be_split(factor) && !(is_group && factor.kind == FactorKind::reduction))
        candidates.push_back(f);
    for_each_choice(mesh_.axes.size(), candidates.size() + 1, [&](const std::vector<std::size_t>& choice) {
      std::vector<Axes> axes(site_.factors.factors.size());
      for (std::size_t a = 0; a < choice.size(); ++a)
        if (choice[a] > 0 && mesh_.axes[a].size > 1 && AxisId(a) != unused_)
          axes[candidates[choice[a] - 1]].push_back({AxisId(a), {}});
        else if (choice[a] > 0) return;  // an axis of one device divides nothing
      if (are_large_enough(mesh_, site_.factors, axes) && are_expressible(mesh_, site_.factors, axes)) add(axes);
    });
    return std::move(found_);
  }

 private:
  void add(const std::vector<Axes>& axes) {
    if (found_.size() >= most_) return;
    Strategy strategy{passes::site_with_axes(program_, graph_, site_, id_, axes), {}};
    Axes partial;
    for (const Sharding& result : strategy.site.results) {
      partial = result.unreduced;
      Sharding stored = result;
      stored.unreduced.clear();
      stored.unreduced_monoid.clear();
      strategy.stored.push_back(std::move(stored));
    }
    add_combined(std::move(strategy), partial);
  }

  // Each axis of partials is combined along one axis of the results, or by every device if none is long enough.
  void add_combined(Strategy strategy, Axes partial) {
    if (partial.empty()) {
      if (found_.size() < most_) found_.push_back(std::move(strategy));
      return;
    }
    const AxisRef over = partial.front();
    partial.erase(partial.begin());
    bool any = false;
    const std::size_t rank = strategy.stored.empty() ? 0 : strategy.stored.front().dims.size();
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (!can_combine_along(mesh_, graph_, strategy.site, strategy.stored, axis, over)) continue;
      any = true;
      Strategy scattered = strategy;
      for (Sharding& stored : scattered.stored) append(mesh_, stored.dims[axis].axes, over);
      add_combined(std::move(scattered), partial);
    }
    if (!any) add_combined(std::move(strategy), partial);
  }

  const Program& program_;
  const Graph& graph_;
  const Site& site_;
  const MeshId id_;
  const Mesh& mesh_;
  const std::size_t most_;
  const std::optional<AxisId> unused_;
  std::vector<Strategy> found_;
};

}  // namespace

std::vector<Strategy> strategies_of(const Program& program, const Graph& graph, const Site& site, MeshId mesh,
                                    std::size_t most, std::optional<AxisId> unused) {
  return Enumeration(program, graph, site, mesh, most, unused).run();
}

std::vector<Sharding> shardings_of(const Program& program, MeshId id, const Shape& shape) {
  const Mesh& mesh = program[id];
  std::vector<Sharding> found;
  for_each_choice(mesh.axes.size(), shape.size() + 1, [&](const std::vector<std::size_t>& choice) {
    Sharding sharding{id, std::vector<DimSharding>(shape.size()), {}, {}, ""};
    for (std::size_t a = 0; a < choice.size(); ++a) {
      if (choice[a] == 0) continue;
      if (mesh.axes[a].size == 1) return;
      append(mesh, sharding.dims[choice[a] - 1].axes, {AxisId(a), {}});
    }
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (!is_long_enough(mesh, sharding.dims[d].axes, shape[d])) return;
    found.push_back(std::move(sharding));
  });
  return found;
}

}  // namespace tap::cost
