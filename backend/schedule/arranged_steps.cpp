#include "backend/schedule/arranged_steps.h"

#include <algorithm>
#include <map>

#include "backend/loops/may_fail.h"

namespace tap::backend {

using namespace ir;

namespace {

// Whether the box's cells follow one another in the buffer: then its messages need no packing.
bool is_contiguous(const Box& box, const Box& buffer) {
  std::size_t axis = 0;
  while (axis < box.dims.size() && box.dims[axis].size() == 1) ++axis;
  for (++axis; axis < box.dims.size(); ++axis)
    if (box.dims[axis].size() != buffer.dims[axis].size()) return false;
  return true;
}

}  // namespace

StepTable::StepTable(const Schedule& schedule, const TaskFacts& facts, const std::vector<Kernel>& kernels,
                     const std::vector<BufferDevice>& devices, bool shared, const std::vector<Lifetime>& lifetimes)
    : schedule_(schedule), facts_(facts), kernels_(kernels), devices_(devices), shared_(shared), lifetimes_(lifetimes) {
  for (const Kernel& kernel : kernels) may_fail_.push_back(kernel_may_fail(kernel));
}

StretchSteps StepTable::of(const Stretch& stretch, const TaskTimes* times) const {
  StretchSteps result;
  std::vector<Made> made;
  std::unordered_map<std::uint32_t, std::size_t> step_of;
  std::unordered_map<BufferId, std::uint32_t> memory_of;
  auto memory = [&](BufferId id) {
    const auto [known, fresh] = memory_of.try_emplace(id, static_cast<std::uint32_t>(memory_of.size()));
    if (!fresh) return known->second;
    const Lifetime& lifetime = lifetimes_[id.index()];
    const bool planned = at(id).space == MemorySpace::arena;
    result.steps.memories.push_back({planned ? aligned_bytes(at(id).bytes()) * count_of(at(id).row) : 0,
                                     lifetime.first < stretch.from, lifetime.last >= stretch.to});
    return known->second;
  };
  for (std::size_t b = stretch.first; b < stretch.end; ++b) {
    const Batch& batch = schedule_.sequences[stretch.sequence][b];
    for (std::size_t t = 0; t < batch.size(); ++t) {
      const auto [known, fresh] = step_of.try_emplace(facts_.steps[stretch.sequence][b][t], made.size());
      if (fresh) made.emplace_back(), result.tasks.emplace_back();
      Made& one = made[known->second];
      result.tasks[known->second].emplace_back(b, t);
      for_each_use(batch[t], kernels_, [&](BufferId id, bool writes) {
        (writes ? one.step.writes : one.step.reads).push_back(memory(id));
      });
      if (const auto* call = std::get_if<KernelCall>(&batch[t].what)) one.step.may_fail |= may_fail_[call->kernel];
      one.step.may_fail |= std::holds_alternative<OutsideCall>(batch[t].what);
      if (const auto* copy = std::get_if<CopyBox>(&batch[t].what); copy && !times && shared_ && is_message(*copy))
        one.step.latency = 1;
      if (times) add_times(one, batch[t], times->seconds[stretch.sequence][b][t], *times);
    }
  }
  for (Made& one : made) {
    Step& step = one.step;
    for (auto* list : {&step.reads, &step.writes}) {
      std::ranges::sort(*list);
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    std::erase_if(step.reads, [&](std::uint32_t m) { return std::ranges::binary_search(step.writes, m); });
    for (const auto& [device, busy] : one.by_device) {
      step.work = std::max(step.work, busy.work);
      if (times) step.travel = std::max(step.travel, busy.bytes / times->bytes_per_second);
    }
    step.longest = std::min(step.longest, step.work);
    result.steps.steps.push_back(std::move(step));
  }
  if (times) result.steps.batch = times->batch;
  return result;
}

// Of a process that runs one device only the calls of that device take time.
void StepTable::add_times(Made& made, const ScheduledTask& task, double seconds, const TaskTimes& times) const {
  Step& step = made.step;
  std::int64_t device = ir::everywhere;
  double devices = 1, parts = static_cast<double>(task.tiles), calls = 1;
  if (const auto* call = std::get_if<KernelCall>(&task.what)) {
    calls = static_cast<double>(count_of(call->row));
    device = device_of(call->buffers.back());
    devices = devices_along(call->row, call->buffers.back(), call->box.rank() + call->buffers.size() - 1);
  } else if (const auto* copy = std::get_if<CopyBox>(&task.what)) {
    calls = static_cast<double>(count_of(copy->row));
    device = device_of(copy->to);
    devices = devices_along(copy->row, copy->to, copy->box.rank() + 1);
    if (shared_ && at(copy->to.id).space == MemorySpace::output) return;  // results stay where they are
    if (shared_ && is_message(*copy)) {
      const Buffer &from = at(copy->from.id), &to = at(copy->to.id);
      const auto bytes = static_cast<double>(copy->box.size() * static_cast<std::int64_t>(size_of(to.element))) * calls;
      step.latency = times.latency;
      made.by_device[device].bytes += bytes / devices;
      if (!is_contiguous(copy->box, from.box) || !is_contiguous(copy->box, to.box))
        step.packed += static_cast<std::int64_t>(bytes / devices);
      return;
    }
  }
  seconds /= devices;
  parts *= calls / devices;
  step.parts = (made.by_device.empty() ? 0 : step.parts) + static_cast<std::int64_t>(parts);
  step.longest = std::max(step.longest, seconds / std::max(parts, 1.0));
  made.by_device[shared_ ? device : 0].work += seconds;
}

std::int64_t StepTable::device_of(const BufferMember& one) const {
  const BufferDevice& device = devices_[one.id.index()];
  if (device.first == ir::everywhere) return ir::everywhere;
  return device.first + one.number;  // of a row, a number that differs where the device does
}

// How many devices take part in a row: `number` is the position of the result among the numbers along the row.
double StepTable::devices_along(const Row& row, const BufferMember& one, std::size_t number) const {
  if (!shared_ || devices_[one.id.index()].first == ir::everywhere) return 1;
  double devices = 1;
  for (const Level& level : row)
    if (level.steps[number] != 0) devices *= static_cast<double>(level.count);
  return devices;
}

bool StepTable::is_message(const CopyBox& copy) const {
  const BufferDevice &from = devices_[copy.from.id.index()], &to = devices_[copy.to.id.index()];
  if (from.first == ir::everywhere) return false;
  if (to.first == ir::everywhere || from.first != to.first || from.steps != to.steps) return true;
  const std::size_t rank = copy.box.rank();
  return copy.from.number != copy.to.number ||
         std::ranges::any_of(copy.row, [&](const Level& level) { return level.steps[rank] != level.steps[rank + 1]; });
}

}  // namespace tap::backend
