#include "backend/schedule/equal_parts.h"

#include <cstdint>
#include <variant>

namespace tap::backend {

using namespace ir;

namespace {

// By buffer: how many tasks write it.
std::vector<int> writers_of(const Schedule& schedule, const std::function<std::size_t(const KernelCall&)>& reads_of) {
  std::vector<int> writers(schedule.buffers.size());
  auto note = [&](BufferId id) { ++writers[id.index()]; };
  for (const Sequence& sequence : schedule.sequences)
    for (const Batch& batch : sequence)
      for (const ScheduledTask& task : batch) {
        if (const auto* call = std::get_if<KernelCall>(&task.what))
          for (std::size_t k = reads_of(*call); k < call->buffers.size(); ++k) note(call->buffers[k].id);
        if (const auto* copy = std::get_if<CopyBox>(&task.what)) note(copy->to.id);
        if (const auto* fill = std::get_if<Fill>(&task.what)) note(fill->buffer.id);
        if (const auto* outside = std::get_if<OutsideCall>(&task.what))
          for (const BufferMember& region : outside->regions) note(region.id);
        if (const auto* loop = std::get_if<Iteration>(&task.what))
          for (const ExchangedState& state : loop->states)
            for (BufferId id : {state.now, state.next}) note(id), note(id);
      }
  return writers;
}

// What distinguishes calls of a batch.
std::vector<std::int64_t> key_of(const KernelCall& call, std::size_t result) {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(call.kernel), static_cast<std::int64_t>(call.operations),
                                static_cast<std::int64_t>(result)};
  for (const Range& range : call.box.dims) key.insert(key.end(), {range.lo, range.hi});
  return key;
}

}  // namespace

EqualParts equal_parts(const Schedule& schedule, const std::function<std::size_t(const KernelCall&)>& reads_of) {
  const std::vector<int> writers = writers_of(schedule, reads_of);
  EqualParts equal;
  for (const Sequence& sequence : schedule.sequences)
    for (const Batch& batch : sequence) {
      std::map<std::vector<std::int64_t>, std::vector<BufferId>> written;
      for (const ScheduledTask& task : batch) {
        const auto* call = std::get_if<KernelCall>(&task.what);
        if (!call || !call->row.empty() || !call->counters.empty()) continue;
        for (std::size_t k = reads_of(*call); k < call->buffers.size(); ++k)
          if (writers[call->buffers[k].id.index()] == 1) written[key_of(*call, k)].push_back(call->buffers[k].id);
      }
      for (const auto& [key, buffers] : written)
        for (BufferId id : buffers)
          if (buffers.size() > 1) equal[id] = buffers;
    }
  return equal;
}

}  // namespace tap::backend
