// The tasks between two iterates of a schedule as steps for list scheduling, with their times and memories.
#pragma once

#include <unordered_map>
#include <variant>
#include <vector>

#include "backend/schedule/arrange_batches.h"
#include "backend/schedule/list_scheduling.h"

namespace tap::backend {

// Batches first..end of a sequence, none of which is an iterate.
struct Stretch {
  std::size_t sequence = 0, first = 0, end = 0;
  std::int64_t from = 0, to = 0;  // their times, as in lifetimes
};

struct StretchSteps {
  Steps steps;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> tasks;  // by step: batch and position
};

// Calls `each(buffer, writes)`. Every region of an outside kernel counts as written.
template <class Each>
void for_each_use(const ScheduledTask& task, const std::vector<Kernel>& kernels, const Each& each) {
  if (const auto* call = std::get_if<KernelCall>(&task.what)) {
    for (std::size_t k = 0; k < call->buffers.size(); ++k)
      each(call->buffers[k].id, k >= kernels[call->kernel].operands);
  } else if (const auto* copy = std::get_if<CopyBox>(&task.what)) {
    each(copy->from.id, false);
    each(copy->to.id, true);
  } else if (const auto* fill = std::get_if<Fill>(&task.what)) {
    each(fill->buffer.id, true);
  } else if (const auto* outside = std::get_if<OutsideCall>(&task.what)) {
    for (const ir::BufferMember& region : outside->regions) each(region.id, true);
  }
}

class StepTable {
 public:
  StepTable(const Schedule& schedule, const TaskFacts& facts, const std::vector<Kernel>& kernels,
            const std::vector<BufferDevice>& devices, bool shared, const std::vector<Lifetime>& lifetimes);
  // Without times all steps take none.
  StretchSteps of(const Stretch& stretch, const TaskTimes* times) const;

 private:
  struct Busy {  // one device
    double work = 0, bytes = 0;
  };
  struct Made {
    Step step;
    std::unordered_map<std::int64_t, Busy> by_device;
  };
  void add_times(Made& made, const ScheduledTask& task, double seconds, const TaskTimes& times) const;
  bool is_message(const CopyBox& copy) const;
  const Buffer& at(BufferId id) const { return schedule_.buffers[id.index()]; }
  std::int64_t device_of(const ir::BufferMember& one) const;
  double devices_along(const ir::Row& row, const ir::BufferMember& one, std::size_t number) const;

  const Schedule& schedule_;
  const TaskFacts& facts_;
  const std::vector<Kernel>& kernels_;
  const std::vector<BufferDevice>& devices_;
  bool shared_;
  const std::vector<Lifetime>& lifetimes_;
  std::vector<bool> may_fail_;  // by kernel
};

}  // namespace tap::backend
