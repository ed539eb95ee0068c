#include "backend/schedule/shared_batches.h"

namespace tap::backend {

namespace {

constexpr double enough = 2;                      // calls that are worth a thread
constexpr double cells_worth_a_thread = 1 << 15;  // of a copy or a fill

// In such calls.
double work_of(const ir::ScheduledTask& task, const ir::Schedule& schedule, const std::vector<Kernel>& kernels) {
  auto times = [](double each, const ir::Row& row) { return each * static_cast<double>(ir::count_of(row)); };
  auto cells = [](const ir::Box& box) { return static_cast<double>(box.size()) / cells_worth_a_thread; };
  if (const auto* call = std::get_if<ir::KernelCall>(&task.what))
    return times(static_cast<double>(call->tiles) / static_cast<double>(kernels[call->kernel].worth), call->row);
  if (const auto* copy = std::get_if<ir::CopyBox>(&task.what)) return times(cells(copy->box), copy->row);
  if (const auto* fill = std::get_if<ir::Fill>(&task.what))
    return times(cells(schedule.buffers[fill->buffer.id.index()].box), fill->row);
  return enough;  // an outside call may take any time
}

}  // namespace

bool pays_to_share(const ir::Batch& batch, const ir::Schedule& schedule, const std::vector<Kernel>& kernels) {
  double work = 0;
  for (const ir::ScheduledTask& task : batch) work += work_of(task, schedule, kernels);
  return work >= enough;
}

}  // namespace tap::backend
