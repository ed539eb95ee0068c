// Tasks of one operation, in turns: those of one turn never write the same cells. Blocks of a dim on which a result does not
// depend do, each all of them.
//
//   (mx[i], o[i, c]) = …, in 2 blocks of i and 2 of c      all blocks of i with the first of c, then those with the second
#pragma once

#include <vector>

#include "ir/block_graph.h"

namespace tap::backend {

std::vector<std::vector<ir::Task>> serialise_conflicting_writes(const ir::Operator& op,
                                                                const std::vector<ir::Task>& tasks);

}  // namespace tap::backend
