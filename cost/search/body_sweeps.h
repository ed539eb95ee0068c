// The plans of one trip of an iterate, by how devices hold its states: each way is held at the start and at the end of a trip.
#pragma once

#include <cstdint>
#include <vector>

#include "cost/search/hold_costs.h"
#include "cost/search/sharding_search.h"
#include "ir/graph.h"

namespace tap::cost {

struct BodySweep {
  std::vector<Held> states;
  SearchProblem problem;
  Front front;  // not empty
};
struct BodySweeps {
  std::vector<BodySweep> all;  // in the order of their best plans
  bool is_exact = true;        // in the goal
  std::size_t labels = 0;
};
struct CostsOfBody {
  const GraphCosts& values;
  const TransferTimes& transfers;
};

// All ways with few combinations of shardings, and the most promising ones again with as many as the options say.
BodySweeps sweep_body(const SearchProblem& body, const ir::Graph& graph, std::vector<std::vector<Held>> states,
                      std::int64_t trips, const CostsOfBody& costs, const SearchOptions& options);

}  // namespace tap::cost
