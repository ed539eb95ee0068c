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

#include "passes/shardings/propagate_factors.h"

namespace tap::passes {

struct PropagationOptions {
  Strategy strategy = Strategy::aggressive;
  bool operation_levels = true;
  bool user_priorities = true;
  bool conservative = false;  // only through what passes through or is reduced, and whole axes only
  // What makes it a compilation and not one analysis: a constant of its own for each use, a copy with a closed sharding says
  // so of what it copies, program inputs and results are split evenly by whole axes, and in the end everything is closed.
  bool prepare = true;
  bool finish = true;
};

// Who set an axis of a value: the operation, from which of its tensors. Without an operation: the program's author, or the
// group that the value is in.
struct Origin {
  ir::GraphId graph;
  ir::ValueId value;
  std::uint32_t dim = 0;
  ir::AxisRef axis;
  std::optional<ir::OperationId> operation = {};  // in the same graph; none: across a region's edge, or a group
  std::optional<std::pair<ir::GraphId, ir::ValueId>> from = {};
  bool operator==(const Origin&) const = default;
};

struct Propagated {
  ir::Program program;  // with the shardings of values and uses
  std::vector<Origin> origins;
  // Members of a group that were given different shardings: they keep them, and what is read of them shares one.
  std::vector<std::string> conflicts;
};

// Pre: calls are inlined (inline_calls.h). Post: only shardings differ, and with `prepare` constants may be there twice.
Propagated propagate(ir::Program program, const PropagationOptions& options = {});

}  // namespace tap::passes
