// One device's part of the block graph, found without looking at what all others do.
//
//   Y over data = 4096, model = 256        device 777777 asks for the 256 blocks that it combines, not for 1,048,576
//
// What a device takes from others is a region; which blocks of the writer reach into it is told axis by axis of the mesh, so
// that the cost is that of what moves, whatever the number of devices.
#pragma once

#include "ir/block_graph.h"
#include "ir/block_program.h"

namespace tap::passes {

// The tasks of expand(program, device), in their order; of what others hold only what is moved from them. Pre: realised.
ir::BlockProgram expand_device(const ir::Program& program, std::int64_t device);

}  // namespace tap::passes
