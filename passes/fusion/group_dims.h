// Which index dims of several operations correspond: if an axis of a value is indexed by one dim alone in each of two
// operations, these dims correspond.
//
//   m[i] = max[k] x[i, k]    y[p, q] = exp(x[p, q] - m[p])    from y's p, q:  m's i is p, by m;  m's k is q, by x
#pragma once

#include "ir/graph_ids.h"

namespace tap::passes {

// Per operation (in the order of `operations`), per dim, the number of the dim in `dims` that it is.
using SharedDims = std::vector<std::vector<std::optional<std::uint32_t>>>;

// From `dims` of operations[from], first through values that one of the operations writes, then also through those that they
// only read.
SharedDims shared_dims(const ir::Program& program, const ir::Graph& graph,
                       const std::vector<ir::OperationId>& operations, std::size_t from,
                       const std::vector<std::uint32_t>& dims);

}  // namespace tap::passes
