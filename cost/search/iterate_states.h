// How the states of an iterate may be held, from trip to trip.
#pragma once

#include <vector>

#include "cost/search/hold_costs.h"
#include "ir/graph.h"

namespace tap::cost {

struct StateShardings {
  std::vector<std::vector<Held>> all;  // by state
  bool is_complete = true;             // all combinations; else those in which states of one shape are held alike
};
// `body`: the graph of a trip.
StateShardings state_shardings(const ir::Program& program, ir::MeshId mesh, const ir::Graph& body,
                               ShardingTable& table);

}  // namespace tap::cost
