// What `tapc simulate` prints and writes.
//
//   role  devices  one of them  computes  waits   ends     messages  received  memory
//   0     1022     511          1.90 ms   20 us   1.93 ms  2         32 KiB    4 MiB
#pragma once

#include <string>

#include "cost/simulate/simulate.h"
#include "ir/shardings/sharding.h"

namespace tap::driver {

struct SimulationReport {
  std::string file, program;  // its hash
  ir::Mesh mesh;
  std::int64_t threads = 1;  // of each device
  cost::Simulation run;
};
std::string simulation_table(const SimulationReport& report);
std::string simulation_json(const SimulationReport& report);   // docs/schema/simulation.schema.json
std::string simulation_trace(const SimulationReport& report);  // Chrome's trace format; pre: with tasks

}  // namespace tap::driver
