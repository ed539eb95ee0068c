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
  std::string operation = {};  // that failed, by the value that it writes; empty where none did
};

struct InterpretOptions {
  bool with_bounds = false;  // also compute, per cell, a bound on the rounding error of any order of evaluation
  // Evaluate scans and scatters by their definition, in quadratic work: what the linear ways are tested against.
  bool naive = false;
  // Above 0: evaluate groups in blocks of so many points per dim (interpret_group.h), to see that what they claim to need is
  // all that they need. Without bounds.
  std::int64_t group_block = 0;
  // Outside kernels by symbol: reads the whole operands, writes the whole results. Without one, an EvaluationError.
  std::function<bool(const Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results)> kernel;
};

struct InterpretResult {
  std::vector<Tensor> outputs;
  std::vector<Tensor> bounds;  // f64, same shapes; empty unless requested
};

// Bounds hold for every evaluation that a compiler may choose: see interpret_bounds.h. They are 0 for what is exact, and
// infinite where nothing can be said.
//
// Pre: verified, legal, inputs match graph.inputs. Throws EvaluationError.
InterpretResult interpret(const Program& program, GraphId graph, const std::vector<Tensor>& inputs,
                          const InterpretOptions& options = {});

}  // namespace tap::ir
