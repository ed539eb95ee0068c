// Evaluates a group as native code runs it: on a box of its dims, block after block, each inner operation on exactly
// the box that demand gives (ir/graphs/demand.h). Cells that no block should need are poison (nan, or an odd number),
// which shows in the results. If demand is right, the results are those of the group's graph.
#pragma once

#include "ir/interpret/interpret.h"
#include "ir/interpret/interpret_cell.h"

namespace tap::ir::oracle {

struct GroupInput {
  const Program& program;
  const Operator& group;
  // With group_block, blocks have that many points per dim. Otherwise the box is one block, apart from the blocks in
  // which the group streams its own reduction dims.
  const InterpretOptions& options;
  const std::vector<std::int64_t>& counters;  // of the enclosing iterates, the innermost last
};

// Writes its part of each result, which has its full shape already. Throws EvaluationError.
void evaluate_group(const GroupInput& input, const Box& box, const std::vector<const Datum*>& operands,
                    const std::vector<Datum*>& results);
// For the group's whole box.
std::vector<Datum> evaluate_group(const GroupInput& input, const std::vector<Datum>& operands);

}  // namespace tap::ir::oracle
