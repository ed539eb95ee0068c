#include "backend/schedule/shared_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/machine.h"
#include "support/checked.h"

namespace tap::backend {

namespace {

constexpr double enough = 2;                      // calls that are worth a thread
constexpr double cells_worth_a_thread = 1 << 15;  // of a copy or a fill
constexpr std::int64_t many_lines = 64;           // that take longer from another core than threads for each other

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

// Whether the points of a call along the dim of its tiles write different lines, and many of them.
bool writes_many_lines(const ir::KernelCall& call, const ir::Schedule& schedule, const std::vector<Kernel>& kernels) {
  const Kernel& kernel = kernels[call.kernel];
  if (!kernel.tile_dim || !call.row.empty() || call.box.dims[*kernel.tile_dim].size() < many_lines) return false;
  for (std::size_t k = kernel.operands; k < std::min(kernel.near.size(), call.buffers.size()); ++k) {
    if (!kernel.near[k]) continue;
    const Shape shape = schedule.buffers[call.buffers[k].id.index()].box.shape();
    const auto axis = shape.begin() + kernel.near[k]->axis;
    auto product = [](auto first, auto last) { return std::accumulate(first, last, std::int64_t{1}, checked::mul); };
    const auto cell = static_cast<std::int64_t>(size_of(kernel.tensors[k].type.element));
    if (product(shape.begin(), axis) == 1 && product(axis + 1, shape.end()) >= ir::reference_machine.line_bytes / cell)
      return true;
  }
  return false;
}

bool writes_columns(const ir::Batch& batch, const ir::Schedule& schedule, const std::vector<Kernel>& kernels) {
  const auto* call = batch.size() == 1 ? std::get_if<ir::KernelCall>(&batch[0].what) : nullptr;
  return call && writes_many_lines(*call, schedule, kernels);
}

}  // namespace

ir::Schedule with_shared_columns(ir::Schedule schedule, const std::vector<Kernel>& kernels) {
  for (ir::Sequence& sequence : schedule.sequences) {
    std::int64_t parts = 1;
    for (const ir::Batch& batch : sequence)
      if (batch.size() == 1 && pays_to_share(batch, schedule, kernels)) parts = std::max(parts, batch[0].tiles);
    for (ir::Batch& batch : sequence)
      if (batch.size() == 1 && batch[0].tiles == 1 && writes_columns(batch, schedule, kernels))
        batch[0].tiles = std::min(parts, std::get<ir::KernelCall>(batch[0].what).tiles);
  }
  return schedule;
}

bool pays_to_share(const ir::Batch& batch, const ir::Schedule& schedule, const std::vector<Kernel>& kernels) {
  if (batch.size() == 1 && batch[0].tiles > 1 && writes_columns(batch, schedule, kernels)) return true;
  double work = 0;
  for (const ir::ScheduledTask& task : batch) work += work_of(task, schedule, kernels);
  return work >= enough;
}

}  // namespace tap::backend
