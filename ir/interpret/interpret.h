// The oracle: an interpreter that evaluates any graph cell by cell, slow and simple.
//
// - Floats are computed in f64 and rounded to the value's type when a cell is written. Within an expression only a cast
//   rounds, for example f32(x) with x an f64; arithmetic on narrow floats does not.
// - Integers are exact and wrap at each node's type.
// - Reductions combine in increasing lexicographic order from the identity. Constraints that mention a reduction dim bound
//   the reduction and not the cells that are written: an empty reduction gives the identity.
// - Scans and scatters run in linear work (linear_reductions.h), with the same result; only where the lower end of a range
//   moves are the terms associated from the right, which a float sum may show in the last bit of its f64.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "support/tensor.h"

namespace tap::ir {

// A run-time failure of the user's program: division by zero, an index out of range. Names the operation and the point.
struct EvaluationError {
  std::string message;
  std::string operation = {};  // the first value that the failed operation writes; empty if there is none
};

struct InterpretOptions {
  bool with_bounds = false;  // also compute, per cell, a bound on the rounding error of any order of evaluation
  // Evaluates scans and scatters by their definition, in quadratic work: the reference for tests of the linear methods.
  bool naive = false;
  // Above 0: evaluates groups in blocks of this many points per dim (interpret_group.h), to test that they need no more
  // than they claim. Without bounds.
  std::int64_t group_block = 0;
  // Calls an outside kernel by its symbol: reads whole operands, writes whole results. Without it, EvaluationError.
  std::function<bool(const Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results)> kernel;
};

struct InterpretResult {
  std::vector<Tensor> outputs;
  std::vector<Tensor> bounds;  // f64, same shapes; empty unless requested
};

// Bounds hold for every evaluation that a compiler may choose: see interpret_bounds.h. They are 0 for exact values, and
// infinite where no bound is known.
//
// Pre: verified, legal, inputs match graph.inputs. Throws EvaluationError.
InterpretResult interpret(const Program& program, GraphId graph, const std::vector<Tensor>& inputs,
                          const InterpretOptions& options = {});

}  // namespace tap::ir
