#include "passes/shardings/obstacles.h"

#include <algorithm>
#include <numeric>

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_position.h"

namespace tap::passes {
namespace {

using ir::Axes;
using ir::AxisRef;
using ir::Sharding;

// The list up to and including the first part of the axis.
Axes up_to(const ir::Mesh& mesh, const Axes& list, const AxisRef& axis) {
  Axes out;
  for (const AxisRef& a : list) {
    out.push_back(a);
    if (overlap(mesh, a, axis)) break;
  }
  return out;
}

bool holds(const std::vector<std::uint32_t>& list, std::uint32_t k) {
  return std::find(list.begin(), list.end(), k) != list.end();
}

double cells_of(const Shape& shape) {
  double cells = 1;
  for (std::int64_t extent : shape) cells *= static_cast<double>(extent);
  return cells;
}

// The axis of a tensor that has the factor.
std::optional<std::uint32_t> dim_with(const TensorFactors& tensor, std::uint32_t factor) {
  for (std::uint32_t d = 0; d < tensor.axes.size(); ++d)
    if (std::find(tensor.axes[d].factors.begin(), tensor.axes[d].factors.end(), factor) != tensor.axes[d].factors.end())
      return d;
  return std::nullopt;
}

}  // namespace

std::string_view name(ObstacleKind kind) {
  switch (kind) {
    case ObstacleKind::barrier: return "barrier";
    case ObstacleKind::closed: return "closed";
    case ObstacleKind::replicated: return "replicated";
    case ObstacleKind::unreduced: return "unreduced";
    case ObstacleKind::conflict: return "conflict";
    case ObstacleKind::sizes: return "sizes";
    case ObstacleKind::kept: return "kept";
    case ObstacleKind::moves_cells: return "moves_cells";
    case ObstacleKind::meshes: return "meshes";
    case ObstacleKind::reduction: return "reduction";
    case ObstacleKind::data_dependent: return "data_dependent";
    case ObstacleKind::fixed_position: return "fixed_position";
    case ObstacleKind::repeated: return "repeated";
  }
  return "";
}

Obstacles::Obstacles(const Propagated& found, const ShardingNet& net, ir::MeshId mesh, ir::AxisId axis)
    : found_(found), net_(net), id_(mesh), mesh_(found.program[mesh]), axis_{axis, {}} {
  for (const Origin& origin : found.origins) origins_[{origin.graph, origin.value}].push_back(&origin);
}

std::size_t Obstacles::tensors(std::uint32_t k) const {
  return net_.hyperedges[k].operands.size() + net_.hyperedges[k].results.size();
}

NodeId Obstacles::node(std::uint32_t k, std::size_t t) const {
  const Hyperedge& edge = net_.hyperedges[k];
  return t < edge.operands.size() ? edge.operands[t] : edge.results[t - edge.operands.size()];
}

const TensorFactors& Obstacles::shape(std::uint32_t k, std::size_t t) const {
  const Hyperedge& edge = net_.hyperedges[k];
  return t < edge.operands.size() ? edge.factors->operands[t] : edge.factors->results[t - edge.operands.size()];
}

ValueInGraph Obstacles::value(NodeId n) const { return {net_.nodes[n].graph, net_.nodes[n].value}; }

bool Obstacles::same_mesh(ir::MeshId other) const {
  const ir::Mesh& mesh = found_.program[other];
  return other == id_ || (mesh.axes == mesh_.axes && mesh.devices == mesh_.devices);
}

// A tensor whose sharding is on a mesh with other axes: nothing passes at this operation.
std::optional<NodeId> Obstacles::on_another_mesh(std::uint32_t k) const {
  for (std::size_t t = 0; t < tensors(k); ++t) {
    const auto& sharding = net_.nodes[node(k, t)].sharding;
    if (sharding && !found_.program[sharding->mesh].axes.empty() && !same_mesh(sharding->mesh)) return node(k, t);
  }
  return std::nullopt;
}

bool Obstacles::has_axis(const DimOfNode& at) const {
  const auto& sharding = net_.nodes[at.node].sharding;
  if (!sharding || !same_mesh(sharding->mesh)) return false;
  const Axes& axes = sharding->dims[at.dim].axes;
  return std::any_of(axes.begin(), axes.end(), [&](const AxisRef& a) { return overlap(mesh_, a, axis_); });
}

std::optional<Sharding> Obstacles::with_axis(const DimOfNode& at) const {
  const Node& node = net_.nodes[at.node];
  Sharding sharding{
      id_, std::vector<ir::DimSharding>(found_.program[node.graph][node.value].type.shape.size()), {}, {}, {}};
  if (node.sharding && same_mesh(node.sharding->mesh)) sharding = *node.sharding;
  if (!has_axis(at)) {
    for (ir::DimSharding& dim : sharding.dims)
      std::erase_if(dim.axes, [&](const AxisRef& a) { return overlap(mesh_, a, axis_); });
    append(mesh_, sharding.dims[at.dim].axes, axis_);
  }
  return sharding;
}

std::vector<std::uint32_t> Obstacles::dividing(std::uint32_t k, std::size_t t, std::uint32_t dim) const {
  const TensorFactors& tensor = shape(k, t);
  const TensorAxes axes = axes_by_factor(mesh_, *net_.hyperedges[k].factors, tensor, with_axis({node(k, t), dim}));
  std::vector<std::uint32_t> out;
  for (std::uint32_t f : tensor.axes[dim].factors) {
    const FactorAxes& own = *axes.find(f);
    if (overlap(mesh_, own.axes, {axis_}) || overlap(mesh_, own.overflow, {axis_})) out.push_back(f);
  }
  return out;
}

std::optional<ValueInGraph> Obstacles::barrier_of(std::uint32_t k, bool forward) const {
  const ir::GraphId graph = net_.hyperedges[k].graph;
  for (const ir::Barrier& barrier : found_.program[graph].barriers) {
    const Node& node = net_.nodes[net_.node_of(graph, barrier.value)];
    if (barrier.kind == (forward ? ir::BarrierKind::backward : ir::BarrierKind::forward)) continue;
    if (holds(node.writers.empty() ? node.readers : node.writers, k)) return {{graph, barrier.value}};
  }
  return std::nullopt;
}

std::vector<Obstacle> Obstacles::between(const Step& step, std::uint32_t from_dim, std::uint32_t to_dim) const {
  const Hyperedge& edge = net_.hyperedges[step.hyperedge];
  const NodeId from = node(step.hyperedge, step.from), to = node(step.hyperedge, step.to);
  const Factor& factor = edge.factors->factors[step.factor];
  Obstacle obstacle{
      ObstacleKind::barrier, edge.graph, edge.operation, value(from), value(to), from_dim, to_dim, id_, axis_};
  if (auto other = on_another_mesh(step.hyperedge)) {
    obstacle.kind = ObstacleKind::meshes;
    obstacle.at = value(*other);
    return {obstacle};
  }
  std::vector<Obstacle> out;
  auto add = [&](ObstacleKind kind) {
    out.push_back(obstacle);
    out.back().kind = kind;
    out.back().dim_name = factor.name;
  };
  const bool forward = step.from < edge.operands.size();
  if (forward ? edge.no_forward : edge.no_backward) {
    add(ObstacleKind::barrier);
    out.back().at = barrier_of(step.hyperedge, forward);
  }
  if (factor.kept) add(ObstacleKind::kept);
  if (found_.how.conservative && moves_cells(factor) && !edge.program_result) add(ObstacleKind::moves_cells);
  const TensorAxes axes =
      axes_by_factor(mesh_, *edge.factors, shape(step.hyperedge, step.from), with_axis({from, from_dim}));
  const FactorAxes& own = *axes.find(step.factor);
  if (overlap(mesh_, own.overflow, {axis_})) {
    add(ObstacleKind::sizes);
    out.back().points = factor.size;
    out.back().blocks = size_of(mesh_, axis_);
    return out;
  }
  const Axes list = up_to(mesh_, own.axes, axis_);
  if (!lists_differ(step, list, obstacle, out) && !taken_elsewhere(step, list, obstacle, out))
    fit(step, list, obstacle, out);
  return out;
}

// Another tensor divides the same dim by other axes: all take the common prefix only.
bool Obstacles::lists_differ(const Step& step, const Axes& list, Obstacle obstacle, std::vector<Obstacle>& out) const {
  for (std::size_t t = 0; t < tensors(step.hyperedge); ++t) {
    const NodeId n = node(step.hyperedge, t);
    const TensorFactors& tensor = shape(step.hyperedge, t);
    if (t == step.from || !has_factor(tensor, step.factor)) continue;
    const TensorAxes axes =
        axes_by_factor(mesh_, *net_.hyperedges[step.hyperedge].factors, tensor, net_.nodes[n].sharding);
    const Axes& theirs = axes.find(step.factor)->axes;
    if (is_prefix(mesh_, theirs, list) || is_prefix(mesh_, list, theirs)) continue;
    obstacle.kind = ObstacleKind::conflict;
    obstacle.at = value(n);
    obstacle.at_dim = dim_with(tensor, step.factor);
    obstacle.axis = suffix_after(mesh_, common_prefix(mesh_, theirs, list), theirs).front();
    obstacle.neither = true;
    out.push_back(obstacle);
    return true;
  }
  return false;
}

// The basic strategy adopts an axis only if no other dim of any tensor has it.
bool Obstacles::taken_elsewhere(const Step& step, const Axes& list, Obstacle obstacle,
                                std::vector<Obstacle>& out) const {
  if (found_.how.strategy != Strategy::basic) return false;
  for (std::size_t t = 0; t < tensors(step.hyperedge); ++t) {
    if (t == step.to) continue;
    const NodeId n = node(step.hyperedge, t);
    const TensorFactors& tensor = shape(step.hyperedge, t);
    const TensorAxes axes =
        axes_by_factor(mesh_, *net_.hyperedges[step.hyperedge].factors, tensor, net_.nodes[n].sharding);
    for (const FactorAxes& other : axes.factors) {
      if (other.factor == step.factor || !overlap(mesh_, other.axes, list)) continue;
      obstacle.kind = ObstacleKind::conflict;
      obstacle.at = value(n);
      obstacle.at_dim = dim_with(tensor, other.factor);
      obstacle.neither = true;
      out.push_back(obstacle);
      return true;
    }
  }
  return false;
}

// Follows `fitting_factor` of propagate_factors.cpp, axis by axis.
void Obstacles::fit(const Step& step, const Axes& list, Obstacle obstacle, std::vector<Obstacle>& out) const {
  const Factors& all = *net_.hyperedges[step.hyperedge].factors;
  const TensorFactors& tensor = shape(step.hyperedge, step.to);
  const Node& to = net_.nodes[node(step.hyperedge, step.to)];
  const TensorAxes axes = axes_by_factor(mesh_, all, tensor, to.sharding);
  const FactorAxes& own = *axes.find(step.factor);
  auto add = [&](ObstacleKind kind) {
    out.push_back(obstacle);
    out.back().kind = kind;
    out.back().at = value(to.constrained_by.value_or(node(step.hyperedge, step.to)));
  };
  std::int64_t before = 1;
  for (const AxisRef& axis : list) {
    obstacle.axis = axis;
    const bool has =
        std::any_of(own.axes.begin(), own.axes.end(), [&](const AxisRef& a) { return contains(mesh_, a, axis); });
    const std::int64_t size = size_of(mesh_, axis), points = all.factors[step.factor].size;
    if (!has) {
      const std::size_t known = out.size();
      if (overlap(mesh_, axes.replicated, {axis})) add(ObstacleKind::replicated);
      if (overlap(mesh_, axes.unreduced, {axis})) add(ObstacleKind::unreduced);
      for (const FactorAxes& other : axes.factors)
        if (other.factor != step.factor &&
            (overlap(mesh_, other.axes, {axis}) || overlap(mesh_, other.overflow, {axis})))
          conflict(step, axis, other, obstacle, out);
      if (to.sharding && !to.sharding->dims[*obstacle.to_dim].open) add(ObstacleKind::closed);
      else if (own.closed || !own.overflow.empty()) {
        add(ObstacleKind::sizes);
        out.back().points = points, out.back().blocks = size;
      }
      if (!own.minor && (points % before != 0 || std::gcd(points / before, size) != size)) {
        add(ObstacleKind::sizes);
        out.back().points = points, out.back().blocks = before * size;
      }
      if (out.size() != known) return;
    }
    before *= size;
  }
  // A minor part of a compound axis can be divided only once the parts before it are.
  for (std::uint32_t f : tensor.axes[*obstacle.to_dim].factors) {
    if (f == step.factor) return;
    const std::int64_t blocks = size_of(mesh_, axes.find(f)->axes);
    if (blocks >= all.factors[f].size) continue;
    add(ObstacleKind::sizes);
    out.back().points = all.factors[f].size, out.back().blocks = blocks;
    out.back().dim_name = all.factors[f].name;
    return;
  }
}

// Another dim of `to` has the axis: from where?
void Obstacles::conflict(const Step& step, const AxisRef& axis, const FactorAxes& other, Obstacle obstacle,
                         std::vector<Obstacle>& out) const {
  const NodeId to = node(step.hyperedge, step.to);
  obstacle.kind = ObstacleKind::conflict;
  obstacle.at = value(to);
  obstacle.at_dim = dim_with(shape(step.hyperedge, step.to), other.factor);
  const auto known = origins_.find(value(to));
  if (known == origins_.end()) return out.push_back(obstacle);
  for (const Origin* at : known->second) {
    const Origin& origin = *at;
    if (origin.dim != obstacle.at_dim || !overlap(mesh_, origin.axis, axis) || !origin.from) continue;
    obstacle.at = origin.from;
    const auto cells = [&](const ValueInGraph& v) { return cells_of(found_.program[v.first][v.second].type.shape); };
    obstacle.by_size = obstacle.operation && origin.operation == obstacle.operation && origin.graph == obstacle.graph &&
                       cells(*obstacle.at) > cells(obstacle.from);
    break;
  }
  out.push_back(obstacle);
}

bool Obstacles::reads_at_data(const Hyperedge& edge, NodeId of, std::uint32_t dim) const {
  const ir::Graph& graph = found_.program[edge.graph];
  return std::any_of(edge.operations.begin(), edge.operations.end(), [&](ir::OperationId o) {
    const ir::Operation& operation = graph[o];
    const auto& reads = found_.program[operation.op].reads;
    return std::any_of(reads.begin(), reads.end(), [&](const ir::Access& read) {
      return operation.operands[read.tensor] == net_.nodes[of].value && dim < read.coordinates.size() &&
             read.coordinates[dim];
    });
  });
}

Obstacle Obstacles::without_dim(const Step& step, std::uint32_t from_dim) const {
  const Hyperedge& edge = net_.hyperedges[step.hyperedge];
  const NodeId from = node(step.hyperedge, step.from), to = node(step.hyperedge, step.to);
  const Factor& factor = edge.factors->factors[step.factor];
  Obstacle obstacle{
      ObstacleKind::repeated, edge.graph, edge.operation, value(from), value(to), from_dim, {}, id_, axis_};
  obstacle.dim_name = factor.name;
  if (factor.kind == FactorKind::reduction && step.to >= edge.operands.size()) obstacle.kind = ObstacleKind::reduction;
  else if (!factor.dim && factor.kind == FactorKind::need_replication) {
    obstacle.kind = reads_at_data(edge, from, from_dim) ? ObstacleKind::data_dependent : ObstacleKind::fixed_position;
  } else
    for (std::uint32_t d = 0; d < shape(step.hyperedge, step.to).axes.size(); ++d)
      if (reads_at_data(edge, to, d)) {
        obstacle.kind = ObstacleKind::data_dependent;
        obstacle.to_dim = d;
      }
  return obstacle;
}

}  // namespace tap::passes
