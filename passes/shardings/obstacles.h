// What keeps a mesh axis from passing from one tensor of an operation to another, after propagation.
//
//   H[i, j] = X[i, j] + 1, X @ m[{a}, {}]      barrier H forward        barrier
//                                              H @ m[{}, {?}]           closed
//                                              H @ m[{?}, {a, ?}]       conflict: axis 1 of `H` has it
//
// Each obstacle is one reason that would suffice. Propagation itself (propagate_factors.h) does not record why it stops: that
// is derived here from the tensors, their factors and the axes that they have in the end.
#pragma once

#include <map>
#include <vector>

#include "passes/shardings/propagate.h"
#include "passes/shardings/sharding_net.h"

namespace tap::passes {

enum class ObstacleKind : std::uint8_t {
  barrier,         // an annotation stops propagation here, in this direction
  closed,          // the annotation of the value allows no more axes for this dim
  replicated,      // … or excludes the axis from all of its dims
  unreduced,       // … or keeps partials along it
  conflict,        // another dim of the value has the axis, or another tensor divides the same dim otherwise
  sizes,           // the blocks would not divide the dim
  kept,            // `keep`: the dim must not be split
  moves_cells,     // conservative propagation skips windows, shifts and permutations
  meshes,          // the tensors of the operation are sharded on different meshes
  reduction,       // the operation reduces over the dim that the axis divides
  data_dependent,  // an axis is read at data-dependent positions
  fixed_position,  // an axis is read at a position that does not move with an index: `x[0, j]`, or the second axis of `x[i, i]`
  repeated,  // the value has no axis that goes with the divided dim
};
std::string_view name(ObstacleKind kind);

using ValueInGraph = std::pair<ir::GraphId, ir::ValueId>;

struct Obstacle {
  ObstacleKind kind = ObstacleKind::barrier;
  ir::GraphId graph = {};                         // of the operation
  std::optional<ir::OperationId> operation = {};  // none: at the boundary of a region, or a group
  ValueInGraph from = {}, to = {};                // `to` does not get the axis from `from`
  std::optional<std::uint32_t> from_dim = {}, to_dim = {};
  ir::MeshId mesh = {};
  ir::AxisRef axis = {};  // the one that does not fit: this axis, or one that must come before it
  std::optional<ValueInGraph> at =
      {};  // barrier: of this value; closed, replicated, meshes: its annotation; conflict: has the axis
  std::optional<std::uint32_t> at_dim = {};  // conflict: the dim of `to` that has it, or of `at`
  bool neither = false;                      // conflict: no tensor gives way
  bool by_size = false;                      // conflict: at one operation, where the larger tensor decides
  std::int64_t points = 0, blocks = 0;       // sizes
  std::string dim_name = {};                 // of the index dim, for a reduction or a kept dim
  bool operator==(const Obstacle&) const = default;
};

// One dim of one node of the net.
struct DimOfNode {
  NodeId node = 0;
  std::uint32_t dim = 0;
  bool operator==(const DimOfNode&) const = default;
};

// An access of a hyperedge: operands, then results.
struct Step {
  std::uint32_t hyperedge = 0;
  std::size_t from = 0, to = 0;
  std::uint32_t factor = 0;
};

class Obstacles {
 public:
  // Both outlive it; `net` as it was when propagation ended.
  Obstacles(const Propagated& found, const ShardingNet& net, ir::MeshId mesh, ir::AxisId axis);

  std::size_t tensors(std::uint32_t hyperedge) const;
  NodeId node(std::uint32_t hyperedge, std::size_t tensor) const;
  const TensorFactors& shape(std::uint32_t hyperedge, std::size_t tensor) const;
  bool has_axis(const DimOfNode& at) const;
  // The factors of a dim by which the axis divides this tensor, or would divide it if the node's dim had it.
  std::vector<std::uint32_t> dividing(std::uint32_t hyperedge, std::size_t tensor, std::uint32_t dim) const;
  // None: the axis passes. Pre: `from` has the factor by the axis, or would have it.
  std::vector<Obstacle> between(const Step& step, std::uint32_t from_dim, std::uint32_t to_dim) const;
  // Why no axis of `to` goes with this factor of `from`.
  Obstacle without_dim(const Step& step, std::uint32_t from_dim) const;

 private:
  bool same_mesh(ir::MeshId other) const;
  std::optional<NodeId> on_another_mesh(std::uint32_t hyperedge) const;
  std::optional<ir::Sharding> with_axis(const DimOfNode& at) const;
  std::optional<ValueInGraph> barrier_of(std::uint32_t hyperedge, bool forward) const;
  bool reads_at_data(const Hyperedge& edge, NodeId of, std::uint32_t dim) const;
  void fit(const Step& step, const ir::Axes& list, Obstacle obstacle, std::vector<Obstacle>& out) const;
  void conflict(const Step& step, const ir::AxisRef& axis, const FactorAxes& other, Obstacle obstacle,
                std::vector<Obstacle>& out) const;
  bool lists_differ(const Step& step, const ir::Axes& list, Obstacle obstacle, std::vector<Obstacle>& out) const;
  bool taken_elsewhere(const Step& step, const ir::Axes& list, Obstacle obstacle, std::vector<Obstacle>& out) const;
  ValueInGraph value(NodeId node) const;

  const Propagated& found_;
  const ShardingNet& net_;
  ir::MeshId id_;
  const ir::Mesh& mesh_;
  ir::AxisRef axis_;
  std::map<ValueInGraph, std::vector<const Origin*>> origins_ = {};  // by value
};

}  // namespace tap::passes
