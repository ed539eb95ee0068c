// Values that several operations write together, each cut over devices: whether every device then holds a box.
//
//   Y[i] = A[i] for i in 0..4 in [0, 3, 4, 4] over pod.data      device 1 holds 3..6: one cell of Y@0 and two of Y@1
//   Y[4 + j] = B[j] in [0, 0, 2, 5] over pod.data
//
// All of the writers go over the same devices, and along some axis of the value all that the devices of one block write lies
// before all that those of the next one write. Then what a device writes is all of a box, since the writes partition.
#pragma once

#include "ir/graph_ids.h"

namespace tap::passes {

// Why not, in a sentence; empty if they do, or if nothing of it is cut over devices.
std::string why_no_boxes(const ir::Program& program, const ir::Graph& graph, ir::ValueId value);

}  // namespace tap::passes
