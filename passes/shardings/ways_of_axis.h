// For every value and one mesh axis: how the axis could come to the value from one that has it, and what is in the way.
//
//   X @ m[{a}, {}]   barrier H both   H[i, j] = X[i, j] + 1   Y[i, j] = 2 * H[i, j]
//   Y, axis a                         from X, along axis 0: a barrier at H
//
// The path with the fewest obstacles, then the shortest one; where no path exists because a dim ends (a reduction, a value
// without it), the obstacle says so.
#pragma once

#include <optional>
#include <vector>

#include "passes/shardings/obstacles.h"

namespace tap::passes {

struct WayOfAxis {
  ValueInGraph source;  // has the axis
  std::uint32_t source_dim = 0;
  std::optional<std::uint32_t> dim = {};  // of the value, to which the axis would come; none: no dim goes with it
  std::vector<Obstacle> obstacles = {};   // from the source on
};

class WaysOfAxis {
 public:
  // Pre: `found` keeps its net. It outlives this.
  WaysOfAxis(const Propagated& found, ir::MeshId mesh, ir::AxisId axis);

  // None: no value that has the axis is related to this one. Pre: the value does not have the axis.
  std::optional<WayOfAxis> to(ir::GraphId graph, ir::ValueId value) const;
  // Obstacles of an axis that the value has on one dim, to another dim: conflicts that this dim lost.
  std::vector<WayOfAxis> lost(ir::GraphId graph, ir::ValueId value) const;

 private:
  struct Cost {
    int ended = 0, obstacles = 0, steps = 0;
    auto operator<=>(const Cost&) const = default;
  };
  struct Arrival {
    Cost cost;
    std::size_t from = 0;  // state; its own number for a source
    std::vector<Obstacle> obstacles;
  };
  class Search;

  std::size_t state(const DimOfNode& at) const { return first_[at.node] + at.dim; }
  WayOfAxis way(std::size_t state) const;

  const Propagated& found_;
  const ShardingNet& net_;
  Obstacles obstacles_;
  std::vector<std::size_t> first_;                // by node: its dims, then a state without a dim
  std::vector<DimOfNode> dims_;                   // by state
  std::vector<std::optional<Arrival>> arrivals_;  // by state
};

}  // namespace tap::passes
