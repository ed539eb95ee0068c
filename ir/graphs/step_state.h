// The state of iterates: each trip reads the state that the previous trip left, in the same place.
//
//   iterate 5 (u = X) { v[i] = u[i - 1 else 0] + u[i]; v }      a trip reads u and leaves v
#pragma once

#include <vector>

#include "ir/graph_ids.h"

namespace tap::ir {

// By value of a graph: what a step leaves, of the state that a step finds; of every other value itself. Only the steps of
// repetitions are meant, and nothing that runs otherwise, too.
std::vector<ValueId> trip_results(const Program& program, GraphId id);

// By graph: whether main reaches it only through repetitions that have no step, so that none of its operations ever runs.
std::vector<bool> never_run(const Program& program);

}  // namespace tap::ir
