// Propagation: infers the shardings of all values from the annotated ones, forward and backward, to a fixpoint.
//
//   X @ pod[{data}, {}]   H = relu(linear(X, W1, b1))   →   H @ pod[{data, ?}, {?}]
//
// One mechanism for every operation: sites (sites.h) and the factors of their projections. The order of propagation,
// and the resolution of conflicts:
//   user priorities    {x}p1 propagates after all of p0
//   operation levels   operations that move no data first, then pass-through factors, then reductions; repeated operands last
//   strategy           basic: no conflicts; aggressive: also resolves conflicts within one operation
// The values of a group share one sharding; a barrier stops propagation into or out of a value; a sharding of one use is a
// separate value. Shardings do not propagate between meshes. Closed dims stay closed; inferred axes are open.
#pragma once

#include <memory>

#include "ir/graph.h"
#include "passes/shardings/propagate_factors.h"

namespace tap::passes {

struct ShardingNet;  // sharding_net.h

struct PropagationOptions {
  Strategy strategy = Strategy::aggressive;
  bool operation_levels = true;
  bool user_priorities = true;
  bool conservative = false;  // only pass-through factors and reductions, and only whole axes
  // For compilation, not just analysis: each use of a constant gets its own copy, a copy with a closed sharding
  // constrains its operand, program inputs and results are split evenly by whole axes, and in the end everything is
  // closed.
  bool prepare = true;
  bool finish = true;
  bool keep_net = false;  // for explanations of what did not propagate (ways_of_axis.h)
};

// Where an axis of a value comes from: an operation, and which of its tensors. Without an operation: the program's
// author, or the value's group.
struct Origin {
  ir::GraphId graph;
  ir::ValueId value;
  std::uint32_t dim = 0;
  ir::AxisRef axis;
  std::optional<ir::OperationId> operation = {};  // in the same graph; none: from outside the region, or a group
  std::optional<std::pair<ir::GraphId, ir::ValueId>> from = {};
  bool operator==(const Origin&) const = default;
};

struct Propagated {
  ir::Program program;  // with the shardings of values and uses
  std::vector<Origin> origins;
  // Members of a group with different annotations: they keep them, and their readers see one sharding.
  std::vector<std::string> conflicts;
  PropagationOptions how = {};
  std::shared_ptr<const ShardingNet> net = {};  // with `keep_net`: the net with its shardings before `finish`
};

// Pre: calls are inlined (inline_calls.h). Post: only shardings differ; with `prepare`, constants may be duplicated.
Propagated propagate(ir::Program program, const PropagationOptions& options = {});

}  // namespace tap::passes
