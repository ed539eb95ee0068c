// A program for people to read: each operation as its equation, with index space, projections, shardings, splits and moves
// below it. The form that tapc reads back is ir::print's.
//
//   Y[i, o] = sum[k] X[i, k] * W[k, o]
//     index  i: 0..4   o: 0..6   k: 0..8 reduce
//     read   X: f32[4, 8] at ZRange(start: [i, k], shape: [1, 1])
//     …
//     split  k_block over pod.model
#pragma once

#include <functional>
#include <string>

#include "ir/graph_ids.h"

namespace tap::driver {

std::string to_text(const ir::Program& program);

// For operations of this program, each with all of this. The name of an operation has the path of its graph.
using OperationText = std::function<std::string(const ir::Graph&, const ir::Operation&, const std::string& name)>;
OperationText operation_texts(const ir::Program& program);

// One operation, which is not a region: its equation with the names of its values, index space and projections.
std::string equation_text(const ir::Program& program, const ir::Graph& graph, const ir::Operation& operation);

}  // namespace tap::driver
