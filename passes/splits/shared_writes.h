// Values with several writers, each split over devices: whether every device then holds a box.
//
//   Y[i] = A[i] for i in 0..4 in [0, 3, 4, 4] over pod.data      device 1 holds 3..6: one cell of Y@0 and two of Y@1
//   Y[4 + j] = B[j] in [0, 0, 2, 5] over pod.data
//
// All writers must use the same devices, and along some axis of the value everything that one block's devices write
// must precede everything that the next block's devices write. Then the part of a device is a full box, since the
// writes partition the value.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph_ids.h"

namespace tap::passes {

// Why not, in a sentence; empty if they do, or if no writer is split over devices. Looks first for problems with the
// blocks of `operation`, one of the writers.
std::string why_no_boxes(const ir::Program& program, const ir::Graph& graph, ir::ValueId value,
                         std::string_view operation);

}  // namespace tap::passes
