// From the numbers of a search to a plan: what the choices of its steps mean.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "cost/search/hold_costs.h"
#include "cost/search/strategies.h"
#include "passes/shardings/plan_shardings.h"

namespace tap::cost {

// A graph as a problem, and what its choices mean.
struct GraphProblem {
  SearchProblem problem;
  struct Meaning {
    std::vector<Strategy> strategies;               // of a site
    std::vector<std::uint32_t> strategy_of;         // by choice
    ir::GraphId body = {};                          // of an iterate
    std::vector<std::vector<std::uint32_t>> inner;  // the choices in it, by choice
  };
  std::vector<Meaning> meanings;  // by step
};
using GraphProblems = std::map<ir::GraphId, GraphProblem>;

// `stages`: the mesh axis along which operations of main are placed, then each a site of its own. Nothing if they cannot be.
std::optional<passes::ShardedPlan> plan_of(const ir::Program& program, ir::MeshId mesh, const GraphProblems& problems,
                                           const ShardingTable& table, std::optional<ir::AxisId> stages,
                                           const Chosen& chosen, const passes::Caution& caution);

}  // namespace tap::cost
