// A search in which the lines of a plan decide everything but the division of one operation.
#pragma once

#include <functional>

#include "cost/search/chosen_plan.h"
#include "cost/search/kept_lines.h"
#include "cost/search/sharding_search.h"
#include "cost/search/site_costs.h"

namespace tap::cost {

struct OpenSite {
  const GraphProblems& graphs;  // as the lines say
  const GraphProblem& opened;   // the graph of the operation, with every way to divide it
  KeptLines& lines;
  const ShardingTable& table;
  TransferTimes& transfers;
  SiteCosts& sites;
};
// Operations without lines of `options.kept` are not divided. Does not visit an operation whose graph is not searched.
// Pre: as search().
void with_open_site(const ir::Program& program, ir::MeshId mesh, const SearchOptions& options,
                    const ir::OperationInGraph& open, const std::function<void(OpenSite)>& visit);

}  // namespace tap::cost
