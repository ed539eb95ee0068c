// Input that the passes have already processed, read from a stage text: its operations have devices, and transfers
// provide their operands.
//
//   H.moved = transfer(H), I = f(H.moved) over data        the boxes that move are those that I's blocks read
#pragma once

#include "ir/graph_ids.h"

namespace tap::passes {

// Whether any operation is placed on devices, or there is a transfer: shardings have then been realised.
bool is_placed(const ir::Program& program);
bool is_placed(const ir::Program& program, ir::GraphId graph);

// By operation: whether it is a transfer or reads the result of one. Its dims and its reads must not change.
std::vector<bool> bound_to_transfers(const ir::Program& program, const ir::Graph& graph);

}  // namespace tap::passes
