// The splits that a program asks for itself, as lines of a plan.
#pragma once

#include <string>

#include "ir/graph.h"
#include "ir/plan.h"

namespace tap::passes {

// The graphs' `split` requests, as decisions. Pre: calls are inlined.
ir::Plan requested_splits(const ir::Program& program);
// These and the plan's lines, in the order in which they are applied: what the plan divides over devices, the program may divide
// further, over threads or in a loop.
ir::Plan with_requested_splits(const ir::Program& program, const ir::Plan& plan);

// The name of the dim that a split calls `axis 0`, of the value that it names or of the operation's first. Unchanged if
// no single dim indexes that axis.
std::string named_dim(const ir::Program& program, const ir::Operation& operation, const ir::Graph& graph,
                      const ir::PlannedSplit& split);

}  // namespace tap::passes
