// What a search may not change: shardings that values of the program have, and those of the states of an iterate.
#pragma once

#include <vector>

#include "cost/search/frontier.h"
#include "ir/graph.h"

namespace tap::cost {

// Values that have shardings keep them, if any strategy gives them. Where partials are combined, each device combines a part of
// what it holds, as without a search:
//   Y: [{data}, {}] = sum[k] H[i, k] * W[k, o], k over model      combined as [{data, model}, {}]
void keep_given(const ir::Program& program, ir::MeshId mesh, const ir::Graph& graph, std::vector<Strategy>& strategies);

// The body of an iterate, whose states are held alike at the start and at the end of a trip.
SearchProblem with_states(SearchProblem body, const ir::Graph& graph, const std::vector<Held>& held);

}  // namespace tap::cost
