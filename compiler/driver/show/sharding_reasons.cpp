#include "compiler/driver/show/sharding_reasons.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/show/written_operations.h"
#include "compiler/driver/work.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "support/byte_size.h"
#include "support/plural.h"

namespace tap::driver {

using passes::Obstacle;
using passes::ObstacleKind;
using passes::ValueInGraph;

std::string_view name(AxisState state) {
  switch (state) {
    case AxisState::given: return "given";
    case AxisState::inherited: return "inherited";
    case AxisState::blocked: return "blocked";
    case AxisState::unrelated: return "unrelated";
  }
  return "";
}

ShardingReasons::ShardingReasons(const Session& session, const passes::Propagated& found,
                                 const ValueLocations& locations)
    : session_(session), found_(found), program_(found.program), locations_(locations) {
  for (const auto& [graph, path] : ir::graph_paths(program_)) paths_.emplace(graph, path);
  for (const passes::Origin& origin : found_.origins) origins_[{origin.graph, origin.value}].push_back(&origin);
}

const std::vector<const passes::Origin*>& ShardingReasons::origins(const ValueInGraph& value) const {
  static const std::vector<const passes::Origin*> none;
  const auto found = origins_.find(value);
  return found == origins_.end() ? none : found->second;
}

std::string ShardingReasons::name(const ValueInGraph& value) const {
  return paths_.at(value.first) + program_[value.first][value.second].name;
}

std::string ShardingReasons::name(ir::GraphId graph, ir::OperationId operation) const {
  auto [names, fresh] = operations_.try_emplace(graph);
  if (fresh) names->second = ir::operation_names(program_[graph]);
  return paths_.at(graph) + names->second[operation.index()];
}

Span ShardingReasons::location(const ValueInGraph& value) const {
  const std::string& own = program_[value.first][value.second].name;
  if (auto at = locations_.values.find(own); at != locations_.values.end() && at->second.valid()) return at->second;
  return called_at(session_.operations, name(value));
}

Span ShardingReasons::annotation(const ValueInGraph& value) const {
  auto at = locations_.shardings.find(name(value));
  return at != locations_.shardings.end() ? at->second : location(value);
}

Span ShardingReasons::location(ir::GraphId graph, ir::OperationId operation) const {
  return called_at(session_.operations, name(graph, operation));
}

std::string ShardingReasons::at(Span span) const {
  if (!span.valid()) return "";
  const SourceFile& file = session_.sources.file(span.file);
  const Position position = file.position(span.begin);
  return fmt::format(", at {}:{}:{}", file.path(), position.line, position.column);
}

std::string ShardingReasons::bytes(const ValueInGraph& value) const {
  return fmt::format("`{}` ({})", name(value), byte_size(bytes_of(program_[value.first][value.second].type)));
}

std::vector<AxisReason> ShardingReasons::of(ir::GraphId graph, ir::ValueId id) {
  const ValueInGraph value{graph, id};
  const auto& sharding = program_[graph][id].sharding;
  std::vector<AxisReason> reasons;
  for (std::uint32_t m = 0; m < program_.meshes.size(); ++m) {
    const ir::MeshId mesh(m);
    if (sharding && sharding->mesh != mesh) continue;
    for (std::uint32_t a = 0; a < program_[mesh].axes.size(); ++a) {
      const ir::AxisId axis(a);
      const std::size_t known = reasons.size();
      if (sharding)
        for (std::uint32_t d = 0; d < sharding->dims.size(); ++d)
          for (const ir::AxisRef& part : sharding->dims[d].axes)
            if (part.id == axis) reasons.push_back(sharded(value, mesh, d, part));
      if (reasons.size() == known) reasons.push_back(unsharded(value, mesh, axis));
    }
  }
  return reasons;
}

AxisReason ShardingReasons::sharded(const ValueInGraph& value, ir::MeshId mesh, std::uint32_t dim,
                                    const ir::AxisRef& axis) {
  AxisReason reason{mesh, axis.id, AxisState::given, dim};
  reason.span = annotation(value);
  for (const passes::Origin& origin : found_.origins) {
    if (ValueInGraph(origin.graph, origin.value) != value || origin.dim != dim) continue;
    if (!overlap(program_[mesh], origin.axis, axis)) continue;
    reason.state = AxisState::inherited;
    if (origin.from) reason.source = name(*origin.from);
    if (origin.operation) {
      reason.operation = name(origin.graph, *origin.operation);
      reason.span = location(origin.graph, *origin.operation);
    }
    break;
  }
  for (const passes::WayOfAxis& way : ways(mesh, axis.id).lost(value.first, value.second))
    for (const Obstacle& obstacle : way.obstacles)
      if (obstacle.kind == ObstacleKind::conflict) reason.lost.push_back(cause(obstacle));
  return reason;
}

AxisReason ShardingReasons::unsharded(const ValueInGraph& value, ir::MeshId mesh, ir::AxisId axis) {
  AxisReason reason{mesh, axis};
  // It had the axis until the shardings of inputs and results were made even.
  const auto& reached = found_.net->nodes[found_.net->node_of(value.first, value.second)].sharding;
  if (reached && reached->mesh == mesh)
    for (std::uint32_t d = 0; d < reached->dims.size(); ++d)
      for (const ir::AxisRef& part : reached->dims[d].axes) {
        if (part.id != axis) continue;
        reason.state = AxisState::blocked;
        reason.dim = d;
        reason.source = name(value);
        Obstacle sizes{ObstacleKind::sizes, value.first, {}, value, value, d, d, mesh, part};
        sizes.points = program_[value.first][value.second].type.shape[d];
        sizes.blocks = size_of(program_[mesh], reached->dims[d].axes);
        reason.causes.push_back(cause(sizes));
        return reason;
      }
  const std::optional<passes::WayOfAxis> way = ways(mesh, axis).to(value.first, value.second);
  if (!way) return reason;
  reason.state = AxisState::blocked;
  reason.dim = way->dim;
  reason.source = name(way->source);
  reason.source_dim = way->source_dim;
  reason.span = annotation(way->source);
  for (const Obstacle& obstacle : way->obstacles) reason.causes.push_back(cause(obstacle));
  return reason;
}

const passes::WaysOfAxis& ShardingReasons::ways(ir::MeshId mesh, ir::AxisId axis) {
  return ways_.try_emplace({mesh, axis}, found_, mesh, axis).first->second;
}

Cause ShardingReasons::cause(const Obstacle& obstacle) const {
  Cause out{std::string(passes::name(obstacle.kind)), text_of(obstacle), name(obstacle.to), "", {}};
  if (obstacle.operation) {
    out.operation = name(obstacle.graph, *obstacle.operation);
    out.span = location(obstacle.graph, *obstacle.operation);
  }
  const bool annotated = (obstacle.kind == ObstacleKind::conflict && obstacle.at == obstacle.to) ||
                         obstacle.kind == ObstacleKind::closed || obstacle.kind == ObstacleKind::replicated ||
                         obstacle.kind == ObstacleKind::unreduced || obstacle.kind == ObstacleKind::meshes;
  if (annotated && obstacle.at) out.span = annotation(*obstacle.at);
  if (obstacle.kind == ObstacleKind::barrier && obstacle.at)
    if (auto at = locations_.barriers.find(name(*obstacle.at)); at != locations_.barriers.end()) out.span = at->second;
  if (!out.span.valid()) out.span = location(obstacle.to);
  return out;
}

std::string ShardingReasons::text_of(const Obstacle& obstacle) const {
  const std::string to = "`" + name(obstacle.to) + "`", from = "`" + name(obstacle.from) + "`";
  const std::uint32_t to_dim = obstacle.to_dim.value_or(0), from_dim = obstacle.from_dim.value_or(0);
  switch (obstacle.kind) {
    case ObstacleKind::barrier:
      return fmt::format("the barrier on `{}` stops propagation", name(obstacle.at.value_or(obstacle.to)));
    case ObstacleKind::closed:
      if (obstacle.at && *obstacle.at != obstacle.to)
        return fmt::format("{} has the sharding of its copy `{}`, whose annotation closes axis {}", to,
                           name(*obstacle.at), to_dim);
      return fmt::format("the annotation of {} closes its axis {}", to, to_dim);
    case ObstacleKind::replicated: return fmt::format("the annotation of {} keeps it replicated along this axis", to);
    case ObstacleKind::unreduced: return fmt::format("{} holds partials along this axis", to);
    case ObstacleKind::conflict: return conflict_text(obstacle);
    case ObstacleKind::sizes:
      if (!obstacle.dim_name.empty())
        return fmt::format("axis {} of {} is divided along `{}` first: {} does not divide evenly into {}", to_dim, to,
                           obstacle.dim_name, obstacle.points,
                           plural(static_cast<std::uint64_t>(obstacle.blocks), "block"));
      return fmt::format("axis {} of {}: {} does not divide evenly into {}", to_dim, to, obstacle.points,
                         plural(static_cast<std::uint64_t>(obstacle.blocks), "block"));
    case ObstacleKind::kept: return fmt::format("`{}` of the operation is a `keep` dim", obstacle.dim_name);
    case ObstacleKind::moves_cells:
      return fmt::format(
          "axis {} of {} is read with a shift, a window or a permutation, and --conservative skips these", from_dim,
          from);
    case ObstacleKind::meshes: {
      const auto& value = obstacle.at.value_or(obstacle.to);
      const auto& sharding = found_.net->nodes[found_.net->node_of(value.first, value.second)].sharding;
      return fmt::format("`{}` is sharded on another mesh, `{}`", name(value),
                         sharding ? program_[sharding->mesh].name : "");
    }
    case ObstacleKind::reduction:
      return fmt::format("{} is reduced over `{}`, the dim that is divided: partials are combined along this axis", to,
                         obstacle.dim_name);
    case ObstacleKind::data_dependent:
      return fmt::format("{} is read at data-dependent positions: a reader may need any cell of its axis {}",
                         obstacle.to_dim ? to : from, obstacle.to_dim ? to_dim : from_dim);
    case ObstacleKind::fixed_position:
      return fmt::format("axis {} of {} is read at positions that do not move with an axis of {}", from_dim, from, to);
    case ObstacleKind::repeated:
      return fmt::format(
          "{} has no axis that corresponds to `{}`, the dim that is divided: all shards use the same cells", to,
          obstacle.dim_name);
  }
  return "";
}

std::string ShardingReasons::conflict_text(const Obstacle& obstacle) const {
  const std::string axis = to_string(program_[obstacle.mesh], obstacle.axis);
  const ValueInGraph at = obstacle.at.value_or(obstacle.to);
  const std::uint32_t at_dim = obstacle.at_dim.value_or(0);
  if (obstacle.neither && found_.how.strategy == passes::Strategy::basic)
    return fmt::format(
        "a conflict: axis {} of {} is sharded by {}; with --strategy=basic, neither this sharding nor that of {} "
        "prevails",
        at_dim, bytes(at), axis, bytes(obstacle.from));
  if (obstacle.neither)
    return fmt::format("a conflict: axis {} of {} is sharded by {}; neither this sharding nor that of {} prevails",
                       at_dim, bytes(at), axis, bytes(obstacle.from));
  if (at == obstacle.to) return fmt::format("a conflict: axis {} of `{}` is annotated with {}", at_dim, name(at), axis);
  return fmt::format("a conflict: axis {} of `{}` is sharded by {}, from {}; {} loses because {}", at_dim,
                     name(obstacle.to), axis, bytes(at), bytes(obstacle.from),
                     obstacle.by_size ? "it is the smaller tensor" : "the other comes first");
}

}  // namespace tap::driver
