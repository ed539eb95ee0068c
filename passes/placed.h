// Input that the passes have already processed, read from a stage text: its operations have devices, and transfers
// provide their operands.
//
//   H.moved = transfer(H), I = f(H.moved) over data        the boxes that move are those that I's blocks read
#pragma once

#include "ir/graph_ids.h"

namespace tap::passes {

// Whether any operation has devices, or anything is moved: whatever shardings ask for has been decided.
bool is_placed(const ir::Program& program);
bool is_placed(const ir::Program& program, ir::GraphId graph);

// By operation: whether it is a transfer or reads what one brings. Its dims and what it reads must stay as they are.
std::vector<bool> bound_to_transfers(const ir::Program& program, const ir::Graph& graph);

}  // namespace tap::passes
