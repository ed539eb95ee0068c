// Searches for the splits of a program over a mesh that take the least predicted time, memory and traffic.
//
//   X (batch) · W1 (wide) · W2 on [data: 4, model: 2]      split H dim i into 4 over grid.data
//                                                          split H dim o into 2 over grid.model …
//
// The search works on sites (passes/shardings/sites.h), the factors of their projections, and the time of loop nests on
// parts of their index spaces; it knows no operator.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cost/search/frontier.h"
#include "cost/search/site_time.h"
#include "ir/plan.h"
#include "passes/shardings/plan_shardings.h"
#include "support/spare_threads.h"

namespace tap::cost {

struct SearchOptions {
  Cluster cluster = {};
  std::int64_t threads = 1;
  passes::Caution caution = {};
  SearchLimits limits = {};
  std::size_t most_strategies = 1024;  // of one site
  ir::Plan kept = {};                  // lines that every plan has
  ir::Plan start = {};                 // no plan is worse in all than the best with these lines
  // Times that other searches of this program found, over any mesh. Null: none.
  std::shared_ptr<OperationTimes> times = {};
  SpareThreads* spare = nullptr;  // threads that the search may take
  // Called now and then with the operations that are priced, and with all.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};
struct FoundPlan {
  passes::ShardedPlan sharded;
  Objectives predicted;
};
// How much was computed, in steps that each take about the same time.
struct SearchWork {
  std::size_t priced = 0;  // loop nests whose time was predicted
  std::size_t labels = 0;  // partial plans that were compared
};
struct FoundFront {
  std::vector<FoundPlan> plans;  // none is beaten in time, memory and traffic at once; fastest first
  bool goal_is_exact = true;     // for the model: no other division is predicted to be better in the goal
  std::size_t strategies = 0;    // of all sites
  SearchWork work = {};
  std::vector<passes::PlanProblem> problems = {};  // lines of `kept` that the plans do not have
};

std::shared_ptr<OperationTimes> times_for(const ir::Program& program, const SearchOptions& options);

// No plans if none is within the limits. Pre: no calls, no splits; shardings of inputs, results and values are kept as given.
FoundFront search(const ir::Program& program, ir::MeshId mesh, const SearchOptions& options);

// The problem that search() solves, in numbers: for tests, which price every combination of its choices. Pre: as search().
void with_problem(const ir::Program& program, ir::MeshId mesh, const SearchOptions& options,
                  const std::function<void(const SearchProblem&, HoldCosts&)>& visit);

}  // namespace tap::cost
