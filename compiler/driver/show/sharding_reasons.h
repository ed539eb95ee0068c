// Why each mesh axis shards a value, or does not: given, inherited, or blocked, with the causes and their lines.
//
//   H, pod.data      inherited from X, by the operation that writes H, layer.tap:7
//   Y, pod.model     blocked: X has it, but a barrier at H stops it, layer.tap:8
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/session.h"
#include "compiler/driver/show/value_locations.h"
#include "ir/graph.h"
#include "passes/shardings/propagate.h"
#include "passes/shardings/ways_of_axis.h"

namespace tap::driver {

struct Cause {
  std::string kind;       // as in ObstacleKind: barrier, closed, …
  std::string text;       // one clause
  std::string value;      // that does not get the axis
  std::string operation;  // where; empty at the boundary of a region
  Span span;              // of the barrier, annotation or operation
};

enum class AxisState : std::uint8_t { given, inherited, blocked, unrelated };
std::string_view name(AxisState state);

struct AxisReason {
  ir::MeshId mesh;
  ir::AxisId axis;
  AxisState state = AxisState::unrelated;
  std::optional<std::uint32_t> dim = {};  // that has it; if blocked, that could
  std::string source = {};                // inherited: from this value; blocked: the value that has it
  std::uint32_t source_dim = 0;
  std::string operation = {};      // inherited: by this operation
  Span span = {};                  // of the annotation or the operation
  std::vector<Cause> causes = {};  // blocked: from the source on
  // Other dims that the axis could shard, and what they lost it to.
  std::vector<Cause> lost = {};
};

class ShardingReasons {
 public:
  // All outlive it. Pre: `found` keeps its net.
  ShardingReasons(const Session& session, const passes::Propagated& found, const ValueLocations& locations);

  // For each axis of the value's mesh; for an unsharded value, of all meshes.
  std::vector<AxisReason> of(ir::GraphId graph, ir::ValueId value);

  std::string name(const passes::ValueInGraph& value) const;  // with its path
  std::string name(ir::GraphId graph, ir::OperationId operation) const;
  Span location(const passes::ValueInGraph& value) const;    // of its declaration, or of the operation that writes it
  Span annotation(const passes::ValueInGraph& value) const;  // its sharding as written, else as `location`
  Span location(ir::GraphId graph, ir::OperationId operation) const;
  // Where the axes of a value come from.
  const std::vector<const passes::Origin*>& origins(const passes::ValueInGraph& value) const;
  // ", at layer.tap:7:5"; empty for an unknown location.
  std::string at(Span span) const;

 private:
  AxisReason sharded(const passes::ValueInGraph& value, ir::MeshId mesh, std::uint32_t dim, const ir::AxisRef& axis);
  AxisReason unsharded(const passes::ValueInGraph& value, ir::MeshId mesh, ir::AxisId axis);
  const passes::WaysOfAxis& ways(ir::MeshId mesh, ir::AxisId axis);
  Cause cause(const passes::Obstacle& obstacle) const;
  std::string text_of(const passes::Obstacle& obstacle) const;
  std::string conflict_text(const passes::Obstacle& obstacle) const;
  std::string bytes(const passes::ValueInGraph& value) const;

  const Session& session_;
  const passes::Propagated& found_;
  const ir::Program& program_;
  const ValueLocations& locations_;
  std::map<ir::GraphId, std::string> paths_;
  mutable std::map<ir::GraphId, std::vector<std::string>> operations_;
  std::map<std::pair<ir::MeshId, ir::AxisId>, passes::WaysOfAxis> ways_;
  std::map<std::pair<ir::GraphId, ir::ValueId>, std::vector<const passes::Origin*>> origins_;
};

}  // namespace tap::driver
