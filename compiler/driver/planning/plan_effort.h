// How long `tapc plan` searches: with a given number of states, or for a time.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/driver/planning/plan_front.h"
#include "compiler/driver/planning/plan_meshes.h"

namespace tap::driver {

// What a search is for.
struct PlanQuestion {
  const FormsOfProgram& forms;
  const std::vector<MeshAxes>& meshes;
  cost::SearchOptions search;
  Demands demands;
  Pick pick = Pick::fastest;
  std::size_t price = 0;
  bool with_progress = false;
  std::vector<ir::Decision> requested = {};  // splits of the program, the first lines of search.kept
};

// The plans that meet the demands. Throws Failure if there are none, PlanRefused if lines cannot be kept. `meshes`: only the first
// of the most promising; 0: all. After a signal (EndsWorkOnSignal), the best plans until then, or of a short search.
PlanFront answer(const PlanQuestion& asked, std::size_t states, std::size_t meshes);

// Searches with more and more states, as long as the next search would end in time; first those meshes that there is time for.
// The last one is the answer, so that it is also the answer of --states and --meshes with the numbers that are recorded.
PlanFront answer_within(double seconds, const PlanQuestion& asked);

}  // namespace tap::driver
