// The searches of `tapc plan`, one for each mesh: several at the same time, and all of them or as many as there is time for.
#pragma once

#include <functional>
#include <vector>

#include "compiler/driver/planning/plan_front.h"
#include "ir/graph.h"

namespace tap::driver {

struct MeshSearch {
  ir::Program program;
  ir::MeshId mesh = {};
  bool is_declared = false;
  cost::FoundFront found = {};
  bool has_begun = false;
  double done = 0;     // part of the search
  double seconds = 0;  // that it took
};
// Fills `found`, and removes the searches that the limit leaves out. What is found does not depend on the threads. `progress` and
// options.limits.is_hurried may throw.
void run_searches(std::vector<MeshSearch>& searches, const cost::SearchOptions& options,
                  const std::function<void(double)>& progress, const MeshLimit& limit);

}  // namespace tap::driver
