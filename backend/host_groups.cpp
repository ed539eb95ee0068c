#include "backend/host_groups.h"

namespace tap::backend {

using namespace ir;

HostGroups::HostGroups(const CompiledProgram& compiled, const Schedule& schedule)
    : compiled_(compiled), schedule_(schedule) {
  for (const Sequence& sequence : schedule.sequences)
    for (const Batch& batch : sequence)
      for (const ScheduledTask& task : batch)
        if (auto* call = std::get_if<GroupCall>(&task.what)) {
          calls_.push_back(call);
          auto [it, fresh] = sections_.try_emplace(call->group);
          if (fresh) number_operations(compiled.blocks.program[call->group].region()->graph, it->second);
        }
}

// As the schedule lists them: in order, and after one that is a group those inside of it.
void HostGroups::number_operations(GraphId group, std::map<std::pair<GraphId, OperationId>, std::int64_t>& numbers) {
  const Program& program = compiled_.blocks.program;
  std::vector<std::pair<GraphId, std::size_t>> open = {{group, 0}};
  std::int64_t next = 0;
  while (!open.empty()) {
    auto& [graph, at] = open.back();
    if (at == program[graph].operations.size()) {
      open.pop_back();
      continue;
    }
    OperationId operation(at++);
    numbers.try_emplace({graph, operation}, next++);
    if (const RegionBody* inner = program[program[graph][operation].op].region()) open.emplace_back(inner->graph, 0);
  }
}

GroupArguments HostGroups::arguments_of(const GroupCall& call, void* const* arguments) const {
  GroupArguments found{call.group, {}, {}};
  const std::size_t operands = compiled_.blocks.program[call.group].operands.size();
  for (std::size_t k = 0; k < call.buffers.size(); ++k) {
    const Buffer& buffer = schedule_.buffers[call.buffers[k].index()];
    (k < operands ? found.operands : found.results).push_back({arguments[k], row_major_strides(buffer.box.shape())});
  }
  return found;
}

std::int32_t HostGroups::run(void* self, std::int64_t number, void* const* arguments, const std::int64_t* counters,
                             std::int64_t depth, std::int64_t first, std::int64_t end, KernelError* error) {
  auto& groups = *static_cast<HostGroups*>(self);
  const GroupCall& call = *groups.calls_[static_cast<std::size_t>(number)];
  try {
    GroupArguments its = groups.arguments_of(call, arguments);
    std::vector<std::int64_t> steps(counters, counters + depth);
    for (std::int64_t tile = first; tile < end; ++tile) {
      const Box& box = call.boxes[static_cast<std::size_t>(tile)];
      auto failure = run_tile(groups.compiled_, its, box, steps, groups.memory_);
      if (!failure) continue;
      *error = failure->error;
      error->section = groups.sections_.at(call.group).at({failure->graph, failure->operation});
      return static_cast<std::int32_t>(failure->why);
    }
  } catch (const std::bad_alloc&) { groups.out_of_memory_ = true; }
  return 0;
}

std::size_t HostGroups::take_most_bytes() { return memory_.most.exchange(0); }

}  // namespace tap::backend
