// Which process of an MPI job has which devices: blocks of equal size in order, or as `--map` lists them.
//
//   --map 0,1,1,0     devices 0 and 3 belong to process 0, 1 and 2 to process 1
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph_ids.h"
#include "runtime/distribution.h"

namespace tap::driver {

class MpiHost;

struct DeviceProcesses {
  std::vector<std::int64_t> map;  // the process of each device; empty: blocks in order
  bool one_each = false;          // as many devices as processes, or it is an error
};

// The devices on which the program's meshes and placed operations run.
std::int64_t count_devices(const ir::Program& program);

// The devices that the program's operations are placed on, over the processes of the job. Throws Failure, exit 2, if they
// do not fit the job; all processes find the same. Refers to the map of `wanted`.
executor::Distribution distribution_of(const MpiHost& host, const ir::Program& program, const DeviceProcesses& wanted);

}  // namespace tap::driver
