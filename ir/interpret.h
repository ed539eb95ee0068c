// The oracle: evaluates any graph cell by cell, slowly and obviously. Floats are computed in f64 and rounded when a cell
// of a value is written; integers are exact (wrapping). Prefix reductions and scatters run in linear work.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/tensor.h"

namespace tap::ir {

// A run-time failure of the user's program: division by zero, an index out of range. Names the operation and the point.
struct EvaluationError {
  std::string message;
};

struct InterpretOptions {
  bool with_bounds = false;  // also compute, per cell, a bound on the rounding error of any order of evaluation
  // Evaluate scans and scatters by their definition, in quadratic work: what the linear ways are tested against.
  bool naive = false;
  // Outside kernels by symbol: reads the whole operands, writes the whole results. Without one, an EvaluationError.
  std::function<bool(const Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results)> kernel;
};

struct InterpretResult {
  std::vector<Tensor> outputs;
  std::vector<Tensor> bounds;  // f64, same shapes; empty unless asked for
};

// Pre: verified, legal, inputs match graph.inputs. Throws EvaluationError.
InterpretResult interpret(const Program& program, GraphId graph, const std::vector<Tensor>& inputs,
                          const InterpretOptions& options = {});

}  // namespace tap::ir
