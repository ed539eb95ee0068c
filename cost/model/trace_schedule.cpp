// A schedule as a trace: batch by batch, with the trips of an iterate as one repeated trip.
#include <algorithm>
#include <numeric>

#include "cost/model/trace.h"

namespace tap::cost {

using namespace ir;

namespace {

class ScheduleTrace {
 public:
  ScheduleTrace(const Schedule& schedule, const std::vector<backend::Kernel>& kernels)
      : schedule_(schedule), kernels_(kernels) {}

  Trace sequence(std::size_t number) {
    Trace trace;
    for (const Batch& batch : schedule_.sequences[number]) {
      ++batch_;
      for (const ScheduledTask& task : batch) {
        Event event = std::visit([&](const auto& what) { return of(what, task); }, task.what);
        event.batch = batch_;
        trace.push_back(std::move(event));
      }
    }
    return trace;
  }

 private:
  Touch touch(BufferMember one, const Row& row) const {
    const Buffer& buffer = schedule_.buffers[one.id.index()];
    const double members = std::min(static_cast<double>(count_of(row)), static_cast<double>(count_of(buffer.row)));
    // Members of a row of buffers are separate memories.
    return {one.id.index() * 4096 + static_cast<std::size_t>(one.number % 4096), static_cast<double>(buffer.bytes()),
            std::max(members, 1.0)};
  }
  std::string name_of(std::size_t operation) const {
    return operation < schedule_.operations.size() ? schedule_.operations[operation].result : std::string();
  }

  Event of(const KernelCall& call, const ScheduledTask& task) const {
    KernelEvent event{
        call.kernel, call.box, static_cast<double>(count_of(call.row)), static_cast<double>(task.tiles), {}};
    for (BufferMember one : call.buffers) event.touches.push_back(touch(one, call.row));
    return {name_of(call.operations), "kernel " + std::to_string(call.kernel), 0, std::move(event)};
  }
  Event of(const CopyBox& copy, const ScheduledTask&) const {
    const Buffer& to = schedule_.buffers[copy.to.id.index()];
    const auto count = static_cast<double>(count_of(copy.row));
    const double cells = static_cast<double>(copy.box.size());
    const double last =
        copy.box.dims.empty() ? 1 : static_cast<double>(std::max<std::int64_t>(copy.box.dims.back().size(), 1));
    return {to.name, "copy", 0,
            CopyEvent{count * cells * static_cast<double>(size_of(to.element)), count * cells / last,
                      touch(copy.from, copy.row), touch(copy.to, copy.row)}};
  }
  Event of(const Fill& fill, const ScheduledTask&) const {
    const Buffer& to = schedule_.buffers[fill.buffer.id.index()];
    const double bytes = static_cast<double>(to.bytes()) * static_cast<double>(count_of(fill.row));
    return {to.name, "fill", 0, CopyEvent{bytes, 1, {}, touch(fill.buffer, fill.row)}};
  }
  Event of(const OutsideCall& call, const ScheduledTask&) const {
    return {name_of(call.operation), "outside " + schedule_.outside[call.outside], 0,
            OutsideEvent{static_cast<double>(call.box.size()) * static_cast<double>(count_of(call.row))}};
  }
  Event of(const Iteration& iteration, const ScheduledTask&) {
    Repeat repeat{static_cast<double>(iteration.steps.size()), {}, {}};
    for (const ExchangedState& state : iteration.states) {
      const auto members =
          static_cast<std::size_t>(std::min<std::int64_t>(count_of(schedule_.buffers[state.now.index()].row), 4096));
      for (std::size_t m = 0; m < members; ++m)
        repeat.exchanged.emplace_back(state.now.index() * 4096 + m, state.next.index() * 4096 + m);
    }
    repeat.body = sequence(iteration.body);
    return {name_of(iteration.operation), "iterate", 0, std::move(repeat)};
  }

  const Schedule& schedule_;
  const std::vector<backend::Kernel>& kernels_;
  std::size_t batch_ = 0;
};

}  // namespace

Trace trace_of(const Schedule& schedule, const std::vector<backend::Kernel>& kernels) {
  return ScheduleTrace(schedule, kernels).sequence(0);
}

}  // namespace tap::cost
