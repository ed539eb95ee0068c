// A group as it is meant to run: block after block of its dims, each inner operation on just the box that demand gives it
// (ir/demand.h). Everything that no block should need is poisoned: nan, or an odd number, so that what is computed from it
// shows in the results. Where demand is right they are those of the group's graph.
#pragma once

#include "ir/interpret.h"
#include "ir/interpret_cell.h"

namespace tap::ir::oracle {

struct GroupInput {
  const Program& program;
  const Operator& group;
  const InterpretOptions& options;            // group_block says how many points of each dim a block has
  const std::vector<std::int64_t>& counters;  // of the enclosing iterates, the innermost last
};

// Throws EvaluationError.
std::vector<Datum> evaluate_group_in_blocks(const GroupInput& input, const std::vector<Datum>& operands);

}  // namespace tap::ir::oracle
