// The oracle on block graphs: every device has memory of its own, and nothing in it but what was brought there.
//
// What a device does not hold is poison (NaN, or the least integer of a type), so that a wrong box shows in the result. An
// application of a group runs on the boxes that demand gives (ir/interpret/interpret_group.h); another region is a graph of its own.
#pragma once

#include "ir/block_graph.h"
#include "ir/interpret/interpret.h"

namespace tap::ir {

// Runs the program's main graph. Throws EvaluationError.
InterpretResult interpret(const BlockProgram& blocks, const std::vector<Tensor>& inputs,
                          const InterpretOptions& options = {});

}  // namespace tap::ir
