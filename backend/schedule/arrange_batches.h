// Arranges the tasks of a schedule into other batches (list_scheduling.h), if these are predicted to take less time and need no
// more memory than program order: neither all devices together nor one of them alone.
#pragma once

#include <vector>

#include "backend/schedule/schedule.h"

namespace tap::backend {

// What a schedule in program order does not say of its tasks.
struct TaskFacts {
  std::vector<std::vector<std::vector<std::uint32_t>>>
      steps;                                             // by sequence, batch, task: those of one step are independent
  std::vector<std::size_t> buffers_before;               // by sequence of an iterate's body: how many are older
  std::vector<std::pair<BufferId, BufferId>> exchanged;  // by iterates
};

// Pre: `lifetimes` are of the schedule, whose memory is planned. Afterwards they are of the arranged one, likewise.
void arrange_batches(Schedule& schedule, const TaskFacts& facts, const std::vector<Kernel>& kernels,
                     const std::vector<BufferDevice>& devices, const ScheduleOptions& options,
                     std::vector<Lifetime>& lifetimes);

}  // namespace tap::backend
