// Calls of an outside kernel. Each access has a buffer of its own with exactly the cells of its region; cells outside
// the tensor are included and contain the fill. A row of calls has rows of regions; calls that read the same region
// share it.
//
//   y = f(x[i - 1 else 0]) on [0..8] times 4 by 8       fill r0#0, r0: [-1..7] times 4
//                                                       copy x to r0: [0..7], then [7..15] times 3
//                                                       f on [0..8] times 4 (r0, r1), and copy r1 to y times 4
#pragma once

#include "backend/schedule/schedule_tasks.h"

namespace tap::backend {

// For the application `calls`, whose held numbers are numbers of these buffers. `call` names the kernel.
struct OutsideBuffers {
  std::vector<BufferId> operands, results;
};
// Returns the regions that are on the devices of their calls, with the steps of the device by level of the region's row;
// the others are shared by calls on several devices.
struct RegionOnDevice {
  BufferId id;
  std::vector<std::int64_t> device_steps;
};
std::vector<RegionOnDevice> add_outside_calls(ScheduleTasks& tasks, const ir::Operator& op,
                                              const ir::Application& calls, const OutsideBuffers& buffers,
                                              OutsideCall call, std::size_t& order);

}  // namespace tap::backend
