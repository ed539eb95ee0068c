// Some operations of a graph as a separate program: values that they read from others are its inputs, values that others
// read, or that have a given sharding, are its outputs. Names are omitted, so that parts that compute the same in different
// places are equal.
//
//   the layer's  m[i] = max[k] x[i, k],  y[i, j] = exp(x[i, j] - m[i])    an input x, an output y, two operations
#pragma once

#include <vector>

#include "ir/graphs/graph_algorithms.h"

namespace tap::cost {

// Pre: the operations are in the graph's order. Operation k of the part is the k-th one.
ir::Program part_of(const ir::Program& program, const ir::Graph& graph, const ir::DefUse& uses,
                    const std::vector<ir::OperationId>& operations);

// Whether a part with this operation can be lowered separately: it has no region and no counter of an enclosing
// `iterate`, is not yet placed, and reads nothing with a sharding of its own.
bool is_standalone(const ir::Program& program, const ir::Operation& operation);

}  // namespace tap::cost
