// From the sharded graph to the block graph: every application and every move, by substituting block numbers and
// device coordinates.
#pragma once

#include "ir/block_graph.h"
#include "ir/block_program.h"

namespace tap::passes {

// With a device, only what it computes, sends and receives. Pre: realised.
ir::BlockProgram expand(const ir::Program& program, std::optional<std::int64_t> only = {});

// For a graph that never runs (ir/graphs/iterate_state.h): its inputs and outputs, on every device.
ir::BlockGraph without_tasks(const ir::Program& program, ir::GraphId id);

}  // namespace tap::passes
