// Decisions that name something that is not there: what was wrong, what is near, and what there is.
//
//   no operation is called `Hh`                      help: did you mean `H`?
//   `H` has no dim `q`; it has `i`, `o`, `k`        help: `H.sum` has it
#pragma once

#include "ir/graphs/operation_names.h"
#include "passes/pass.h"

namespace tap::passes {

PlanProblem no_operation(const ir::Program& program, std::size_t decision, const std::string& name);
// Names an operation of the same equation, or inside the repetition, that has the dim: `Y.sum` where `Y` was written.
PlanProblem no_dim(const ir::Program& program, ir::OperationInGraph place, std::size_t decision,
                   const std::string& operation, const std::string& dim);

// "did you mean `a`?", else "the KIND are `a`, `b`", of which at most twelve; empty where there are none.
std::string near_or_all(const std::string& name, const std::vector<std::string>& names, const std::string& kind);

}  // namespace tap::passes
