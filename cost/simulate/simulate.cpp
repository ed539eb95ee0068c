#include "cost/simulate/simulate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "cost/simulate/device_steps.h"
#include "support/check.h"

namespace tap::cost {

namespace {

constexpr std::size_t most_tasks = std::size_t{1} << 16;  // of one device

// The link of the machine file that joins two devices, by number; as many as there are for a pair of its own.
std::size_t link_between(const Cluster& cluster, std::int64_t from, std::int64_t to) {
  for (const PairLink& pair : cluster.pairs)
    if ((pair.from == from && pair.to == to) || (pair.from == to && pair.to == from)) return cluster.links.size();
  for (std::size_t level = 0; level < cluster.links.size(); ++level) {
    const std::int64_t groups = cluster.links[level].count;
    if (groups < 1) return level;
    from /= groups;
    to /= groups;
    if (from == to) return level;
  }
  return cluster.links.empty() ? 0 : cluster.links.size() - 1;
}

// What adds up over a run.
struct Amounts {
  double busy = 0, waiting = 0;
  std::vector<double> messages, bytes;  // by link
  void add(const Amounts& now, const Amounts& before, double times) {
    busy += (now.busy - before.busy) * times;
    waiting += (now.waiting - before.waiting) * times;
    for (std::size_t link = 0; link < messages.size(); ++link) {
      messages[link] += (now.messages[link] - before.messages[link]) * times;
      bytes[link] += (now.bytes[link] - before.bytes[link]) * times;
    }
  }
};

struct Running {
  std::size_t at = 0;                      // the next step
  double clock = 0;                        // when the device is free
  double port = 0;                         // when it can receive the next message
  std::map<std::size_t, double> memories;  // when they are complete
  // By value: when it was complete, for each time that it was computed, and how many steps have contributed.
  std::map<std::size_t, std::vector<double>> complete;
  std::map<std::size_t, std::int64_t> written;
  std::vector<std::int64_t> passes;            // by step: how often a message was received, or the trip that runs
  std::vector<double> trip_began;              // by step: when the second half of the simulated trips began, …
  std::map<std::size_t, Amounts> before_trip;  // … and what had added up then
  Amounts amounts;
  SimulatedDevice result;
};

class Simulator {
 public:
  Simulator(const Roles& roles, DeviceParts& parts, const SimulationOptions& options)
      : roles_(roles), cluster_(parts.model().cluster()), options_(options) {
    for (std::size_t role = 0; role < roles.representatives.size(); ++role) {
      const std::int64_t device = roles.representatives[role];
      const DevicePart& part = parts.of(device);
      code_.push_back(steps_of(part, device, roles, cluster_));
      Running& one = devices_.emplace_back();
      one.passes.resize(code_.back().list.size());
      one.trip_began.resize(code_.back().list.size());
      one.amounts.messages.resize(cluster_.links.size() + 1);
      one.amounts.bytes.resize(cluster_.links.size() + 1);
      one.clock = parts.model().device().run;
      one.result.device = device;
      one.result.count = roles.sizes[role];
      one.result.peak_bytes = part.peak_bytes;
    }
    for (const Link& link : cluster_.links) made_.links.push_back({link.name, 0, 0});
    made_.links.push_back({"between pairs", 0, 0});
    count_sent();
  }

  Simulation run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t role = 0; role < devices_.size(); ++role)
        while (devices_[role].at < code_[role].list.size() && step(role)) moved = true;
    }
    for (std::size_t role = 0; role < devices_.size(); ++role)
      TAP_CHECK(devices_[role].at == code_[role].list.size(), "simulated devices wait for each other");
    return finish();
  }

 private:
  // Of each value: what one of the devices that send it sends, on average.
  void count_sent() {
    std::map<std::size_t, double> bytes;
    std::map<std::size_t, std::set<std::size_t>> senders;  // roles
    for (std::size_t role = 0; role < devices_.size(); ++role)
      for (const DeviceStep& one : code_[role].list)
        if (one.kind == DeviceStep::Kind::receive) {
          bytes[one.value] += one.bytes * static_cast<double>(roles_.sizes[role]);
          senders[one.value].insert(one.from);
        }
    for (const auto& [value, roles] : senders) {
      std::int64_t devices = 0;
      for (std::size_t role : roles) devices += roles_.sizes[role];
      sent_[value] = bytes[value] / static_cast<double>(devices);
    }
  }

  // Whether the device could go on.
  bool step(std::size_t role) {
    Running& device = devices_[role];
    const DeviceStep& one = code_[role].list[device.at];
    switch (one.kind) {
      case DeviceStep::Kind::compute: compute(role, device, one); break;
      case DeviceStep::Kind::receive:
        if (!receive(role, device, one)) return false;
        break;
      case DeviceStep::Kind::begin:
        if (one.trips == 0) {
          leave(role, device, code_[role].list[one.partner]);
          device.at = one.partner;
        } else begin(role, device, one);
        break;
      case DeviceStep::Kind::end: return end(role, device, one);
    }
    ++device.at;
    ++made_.events;
    return true;
  }

  // When all steps that write a value have, it is complete.
  void write(std::size_t role, std::size_t value, double when) {
    Running& device = devices_[role];
    const std::int64_t each = code_[role].writes.at(value);
    std::vector<double>& times = device.complete[value];
    const auto pass = static_cast<std::size_t>(device.written[value]++ / each);
    if (times.size() <= pass) times.push_back(when);
    else times[pass] = std::max(times[pass], when);
  }

  void note(Running& device, SimulatedTask task) const {
    if (options_.tasks && device.result.tasks.size() < most_tasks) device.result.tasks.push_back(std::move(task));
  }

  void compute(std::size_t role, Running& device, const DeviceStep& one) {
    double begin = device.clock;
    for (std::size_t memory : one.memories) begin = std::max(begin, device.memories[memory]);
    device.amounts.waiting += begin - device.clock;
    device.clock = begin + one.seconds;
    device.amounts.busy += one.seconds;
    for (std::size_t memory : one.written) device.memories[memory] = std::max(device.memories[memory], device.clock);
    for (std::size_t value : one.event->values) write(role, value, device.clock);
    note(device, {one.event->name, one.event->what, begin, device.clock});
  }

  // The time at which the sender had the value; none yet if it has not come that far.
  std::optional<double> complete_at(const DeviceStep& one, std::int64_t pass) const {
    const Running& sender = devices_[one.from];
    const auto writes = code_[one.from].writes.find(one.value);
    if (writes == code_[one.from].writes.end()) return 0;  // an input of the program
    const auto written = sender.written.find(one.value);
    if (written == sender.written.end() || written->second < (pass + 1) * writes->second) return std::nullopt;
    return sender.complete.at(one.value)[static_cast<std::size_t>(pass)];
  }

  bool receive(std::size_t role, Running& device, const DeviceStep& one) {
    const std::optional<double> complete = complete_at(one, device.passes[device.at]);
    if (!complete) return false;
    ++device.passes[device.at];
    const double arrives = *complete + one.route.latency;
    const double rate = one.route.bandwidth > 0 ? 1 / one.route.bandwidth : 0;
    device.port = std::max(device.port, arrives) + one.bytes * rate;
    const double received = std::max(device.port, arrives + sent_.at(one.value) * rate);
    device.memories[one.memories.front()] = std::max(device.memories[one.memories.front()], received);
    for (std::size_t value : one.event->values) write(role, value, received);
    const std::size_t link = link_between(cluster_, one.sender, device.result.device);
    ++device.amounts.messages[link];
    device.amounts.bytes[link] += one.bytes;
    note(device, {one.event->name, "message", *complete, received, one.sender, one.bytes});
    return true;
  }

  void begin(std::size_t role, Running& device, const DeviceStep& one) {
    if (device.passes[one.partner] <= std::min(one.trips, options_.most_trips) / 2) {
      device.trip_began[device.at] = device.clock;
      device.before_trip[device.at] = device.amounts;
    }
    for (const auto& [value, memory] : std::get<Repeat>(one.event->does).states)
      write(role, value, device.memories[memory]);
  }

  bool end(std::size_t role, Running& device, const DeviceStep& one) {
    ++made_.events;
    for (const auto& [now, next] : std::get<Repeat>(one.event->does).exchanged)
      std::swap(device.memories[now], device.memories[next]);
    const std::int64_t trip = ++device.passes[device.at];
    if (trip < std::min(one.trips, options_.most_trips)) {
      device.at = one.partner;
      return true;
    }
    device.passes[device.at] = 0;
    if (trip < one.trips) go_on_alike(device, one, one.trips - trip, trip - trip / 2);
    leave(role, device, one);
    ++device.at;
    return true;
  }

  // Trips that are not simulated are like the last ones that were, on average: neighbours may take turns in waiting.
  void go_on_alike(Running& device, const DeviceStep& one, std::int64_t trips, std::int64_t last) {
    const double times = static_cast<double>(trips) / static_cast<double>(last);
    const double seconds = (device.clock - device.trip_began[one.partner]) * times;
    device.clock += seconds;
    device.port += seconds;
    for (auto& [memory, when] : device.memories) when += seconds;
    device.amounts.add(Amounts(device.amounts), device.before_trip[one.partner], times);
    made_.trips_skipped += trips;
  }

  void leave(std::size_t role, Running& device, const DeviceStep& one) {
    for (std::size_t memory : one.memories) device.memories[memory] = device.clock;
    for (std::size_t value : one.event->values) write(role, value, device.clock);
  }

  Simulation finish() {
    double busy = 0;
    for (Running& device : devices_) {
      device.result.end = device.clock;
      for (const auto& [memory, when] : device.memories) device.result.end = std::max(device.result.end, when);
      made_.seconds = std::max(made_.seconds, device.result.end);
      made_.count += device.result.count;
      const auto count = static_cast<double>(device.result.count);
      busy += device.amounts.busy * count;
      device.result.busy = device.amounts.busy;
      device.result.waiting = device.amounts.waiting;
      for (std::size_t link = 0; link < made_.links.size(); ++link) {
        device.result.messages += device.amounts.messages[link];
        device.result.received += device.amounts.bytes[link];
        made_.links[link].messages += device.amounts.messages[link] * count;
        made_.links[link].bytes += device.amounts.bytes[link] * count;
      }
      made_.devices.push_back(std::move(device.result));
    }
    const double all = made_.seconds * static_cast<double>(made_.count);
    made_.idle = all > 0 ? std::max(1 - busy / all, 0.0) : 0;
    if (made_.links.back().messages == 0) made_.links.pop_back();
    return std::move(made_);
  }

  const Roles& roles_;
  const Cluster& cluster_;
  const SimulationOptions options_;
  std::vector<DeviceSteps> code_;       // by role
  std::vector<Running> devices_;        // by role
  std::map<std::size_t, double> sent_;  // by value
  Simulation made_;
};

}  // namespace

Simulation simulate(const Roles& roles, DeviceParts& parts, const SimulationOptions& options) {
  return Simulator(roles, parts, options).run();
}

}  // namespace tap::cost
