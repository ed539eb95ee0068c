// A group as it is meant to run: on a box of its dims, block after block, each inner operation on just the box that demand
// gives it (ir/graphs/demand.h). Everything that no block should need is poisoned: nan, or an odd number, so that what is computed
// from it shows in the results. Where demand is right they are those of the group's graph.
#pragma once

#include "ir/interpret/interpret.h"
#include "ir/interpret/interpret_cell.h"

namespace tap::ir::oracle {

struct GroupInput {
  const Program& program;
  const Operator& group;
  // With group_block, blocks have so many points of each dim; without, a block is what the box and the blocks that the
  // group's own reduction dims are walked in leave.
  const InterpretOptions& options;
  const std::vector<std::int64_t>& counters;  // of the enclosing iterates, the innermost last
};

// Writes its part of each result, which has its full shape already. Throws EvaluationError.
void evaluate_group(const GroupInput& input, const Box& box, const std::vector<const Datum*>& operands,
                    const std::vector<Datum*>& results);
// On its whole box.
std::vector<Datum> evaluate_group(const GroupInput& input, const std::vector<Datum>& operands);

}  // namespace tap::ir::oracle
