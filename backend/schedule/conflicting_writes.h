// Groups the tasks of an operation so that tasks of one group never write the same cells. Blocks of a dim that a
// result does not depend on all write that whole result.
//
//   (mx[i], o[i, c]) = …, in 2 blocks of i and 2 of c      all blocks of i with the first of c, then those with the second
#pragma once

#include <vector>

#include "ir/block_graph.h"

namespace tap::backend {

std::vector<std::vector<ir::Task>> serialise_conflicting_writes(const ir::Operator& op,
                                                                const std::vector<ir::Task>& tasks);

}  // namespace tap::backend
