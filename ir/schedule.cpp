#include "ir/schedule.h"

#include <algorithm>
#include <utility>

#include "support/checked.h"

namespace tap::ir {

std::int64_t Buffer::bytes() const {
  return checked::mul(element_count(box.shape()), static_cast<std::int64_t>(size_of(element)));
}

namespace {

class Lister {
 public:
  explicit Lister(const Schedule& rows) : rows_(rows), all_(rows) {}

  Schedule run() {
    all_.buffers.clear();
    for (const Buffer& buffer : rows_.buffers) {
      begins_.push_back(all_.buffers.size());
      for (Buffer& one : members(buffer)) all_.buffers.push_back(std::move(one));
    }
    for (Sequence& sequence : all_.sequences)
      for (Batch& batch : sequence) {
        Batch alone;
        for (const ScheduledTask& task : batch)
          std::visit([&](const auto& what) { list(what, task, alone); }, task.what);
        batch = std::move(alone);
      }
    return std::move(all_);
  }

 private:
  void alone(BufferMember& m) const { m = BufferId(begins_[m.id.index()] + static_cast<std::size_t>(m.number)); }
  void alone(CopyBox& copy) const { alone(copy.from), alone(copy.to); }
  void alone(Fill& fill) const { alone(fill.buffer); }
  void alone(KernelCall& call) const {
    for (BufferMember& m : call.buffers) alone(m);
  }
  void alone(OutsideCall& call) const {
    for (BufferMember& m : call.regions) alone(m);
  }

  template <class What>
  void list(const What& what, const ScheduledTask& task, Batch& batch) const {
    for (What& one : std::is_same_v<What, KernelCall> ? unroll_across(what) : members(what)) {
      alone(one);
      batch.push_back({std::move(one), task.tiles});
    }
  }
  void list(Iteration loop, const ScheduledTask& task, Batch& batch) const {
    std::vector<ExchangedState> states;
    for (const ExchangedState& one : loop.states)
      for (std::int64_t n = 0; n < count_of(rows_.buffers[one.now.index()].row); ++n) {
        BufferMember now(one.now, n), next(one.next, n);
        alone(now), alone(next);
        states.push_back({one.state, now.id, next.id});
      }
    loop.states = std::move(states);
    batch.push_back({std::move(loop), task.tiles});
  }

  const Schedule& rows_;
  Schedule all_;
  std::vector<std::size_t> begins_;  // start of the members of each
};

}  // namespace

Schedule by_memory(const Schedule& schedule) { return Lister(schedule).run(); }

}  // namespace tap::ir
