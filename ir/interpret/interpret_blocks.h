// The interpreter for block graphs: every device has memory of its own, which contains only what was moved or
// computed there.
//
// Cells that a device does not hold are poison (NaN, or the least integer of a type), so that a wrong box shows in
// the result. An application of a group runs on the boxes that demand gives (ir/interpret/interpret_group.h); any
// other region is a block graph of its own.
#pragma once

#include "ir/block_graph.h"
#include "ir/interpret/interpret.h"

namespace tap::ir {

// Runs the program's main graph. Throws EvaluationError.
InterpretResult interpret(const BlockProgram& blocks, const std::vector<Tensor>& inputs,
                          const InterpretOptions& options = {});

}  // namespace tap::ir
