// Messages for plan lines with unknown names: what is wrong, similar names, and the existing names.
//
//   unknown operation `Hh`                      help: did you mean `H`?
//   `H` has no dim `q`; it has `i`, `o`, `k`        help: `H.sum` has it
#pragma once

#include "ir/graphs/operation_names.h"
#include "passes/pass.h"

namespace tap::passes {

PlanProblem no_operation(const ir::Program& program, std::size_t decision, const std::string& name);
// Suggests an operation of the same equation, or inside the iterate, that has the dim: `Y.sum` instead of `Y`.
PlanProblem no_dim(const ir::Program& program, ir::OperationInGraph location, std::size_t decision,
                   const std::string& operation, const std::string& dim);

// "did you mean `a`?", else "the KIND are `a`, `b`", at most twelve; empty if there are none.
std::string suggestion_for(const std::string& name, const std::vector<std::string>& names, const std::string& kind);

}  // namespace tap::passes
