// Which index dims of several operations correspond: if an axis of a value is indexed by one dim alone in each of two
// operations, these dims correspond.
//
//   m[i] = max[k] x[i, k]    y[p, q] = exp(x[p, q] - m[p])    from y's p, q:  m's i is p, by m;  m's k is q, by x
#pragma once

#include <optional>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::passes {

// By operation (in the order of `operations`) and by dim: the number in `dims` of the corresponding dim.
using SharedDims = std::vector<std::vector<std::optional<std::uint32_t>>>;

// Of operations on a graph's values. Starts from `dims` of operations[from]; follows first the values that one of the
// operations writes, then those that they only read.
SharedDims shared_dims(const ir::Program& program, const ir::Graph& graph, const std::vector<ir::Operation>& operations,
                       std::size_t from, const std::vector<std::uint32_t>& dims);

}  // namespace tap::passes
