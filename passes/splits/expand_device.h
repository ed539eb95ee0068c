// Computes one device's part of the block graph without visiting those of the others.
//
//   Y over data = 4096, model = 256        device 777777 visits the 256 blocks that it combines, not for 1,048,576
//
// A device receives a region; the blocks of the writer that overlap it are found separately for each axis of the
// mesh, so the cost depends on the data that moves and not on the number of devices.
#pragma once

#include "ir/block_graph.h"
#include "ir/block_program.h"

namespace tap::passes {

// The tasks of expand(program, device), in order; of other devices' boxes, only those that it receives from. Pre:
// realised.
ir::BlockProgram expand_device(const ir::Program& program, std::int64_t device);

}  // namespace tap::passes
