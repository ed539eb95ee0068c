#include "cost/simulate/device_steps.h"

#include <cmath>
#include <variant>

namespace tap::cost {

namespace {

class Flattening {
 public:
  Flattening(const DevicePart& part, std::int64_t device, const Roles& roles, const Cluster& cluster)
      : part_(part), device_(device), roles_(roles), cluster_(cluster) {
    all(part.trace);
  }
  DeviceSteps made;

 private:
  void all(const Trace& trace) {
    for (const Event& event : trace) {
      for (std::size_t value : event.values) ++made.writes[value];
      std::visit([&](const auto& does) { add(event, does); }, event.does);
    }
  }
  DeviceStep& next(const Event& event, DeviceStep::Kind kind) {
    DeviceStep& one = made.list.emplace_back();
    one.kind = kind;
    one.event = &event;
    return one;
  }
  DeviceStep& compute(const Event& event) {
    DeviceStep& one = next(event, DeviceStep::Kind::compute);
    one.seconds = part_.seconds[seconds_++];
    return one;
  }

  void add(const Event& event, const KernelEvent& does) {
    DeviceStep& one = compute(event);
    for (const Touch& touch : does.touches) one.memories.push_back(touch.memory);
    one.written = one.memories;
  }
  // Into the same memory as a message: neither waits for the other.
  void add(const Event& event, const CopyEvent& does) {
    DeviceStep& one = compute(event);
    if (does.from) one.memories.push_back(does.from->memory);
    one.written.push_back(does.to.memory);
  }
  void add(const Event& event, const OutsideEvent& does) {
    DeviceStep& one = compute(event);
    for (const Touch& touch : does.touches) one.memories.push_back(touch.memory);
    one.written = one.memories;
  }
  void add(const Event& event, const MessageEvent& does) {
    ++seconds_;
    DeviceStep& one = next(event, DeviceStep::Kind::receive);
    one.memories.push_back(does.to.memory);
    one.from = roles_.of(does.from);
    one.sender = does.from;
    one.value = does.value;
    one.bytes = does.bytes;
    one.route = route_between(cluster_, does.from, device_);
  }
  void add(const Event& event, const Repeat& does) {
    const std::size_t begin = made.list.size();
    next(event, DeviceStep::Kind::begin).trips = std::llround(does.times);
    for (const auto& [value, memory] : does.states) made.writes.try_emplace(value, 1);
    all(does.body);
    const std::size_t end = made.list.size();
    DeviceStep& last = next(event, DeviceStep::Kind::end);
    last.trips = std::llround(does.times);
    last.memories = does.results;
    last.partner = begin;
    made.list[begin].partner = end;
  }

  const DevicePart& part_;
  const std::int64_t device_;
  const Roles& roles_;
  const Cluster& cluster_;
  std::size_t seconds_ = 0;
};

}  // namespace

DeviceSteps steps_of(const DevicePart& part, std::int64_t device, const Roles& roles, const Cluster& cluster) {
  return std::move(Flattening(part, device, roles, cluster).made);
}

}  // namespace tap::cost
