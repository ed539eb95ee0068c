// What devices hold, cell by cell, and what each collective makes of it: says whether steps do what they claim. It knows
// boxes and coordinates only and nothing of how steps are chosen, so that it is the oracle of their tests. Time and memory
// grow with devices times cells.
#pragma once

#include "passes/shardings/collectives.h"

namespace tap::passes {

struct SimulatedSteps {
  std::vector<std::string> failures;   // what a device cannot get from its group, what it lacks in the end
  std::vector<std::int64_t> received;  // by step: elements that the busiest device got from others
  std::int64_t total_received = 0;     // over all steps and devices
};
SimulatedSteps simulate(const OnMesh& from, const OnMesh& to, const Shape& shape, const std::vector<Collective>& steps);

}  // namespace tap::passes
