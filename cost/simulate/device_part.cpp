#include "cost/simulate/device_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "backend/compiled_program.h"
#include "cost/model/device_memory.h"
#include "cost/model/links.h"

namespace tap::cost {

const DevicePart& DeviceParts::of(std::int64_t device) {
  std::unique_ptr<DevicePart>& part = parts_[device];
  if (part) return *part;
  const backend::CompiledProgram lowered = lowered_for_device(program_, device, strict_fp_, model_.device().core);
  part = std::make_unique<DevicePart>();
  part->trace = trace_of_device(lowered, device);
  part->peak_bytes = peak_bytes_of_device(lowered, device);
  for (const CostRow& row : model_.of(part->trace, lowered.kernels.kernels, device).rows)
    part->seconds.push_back(row.cost.total() / std::max(row.times, 1.0));
  return *part;
}

namespace {

class Signature {
 public:
  Signature(std::int64_t device, const Cluster& cluster, const std::function<std::size_t(std::int64_t)>& role_of,
            const std::vector<double>& seconds)
      : device_(device), cluster_(cluster), role_of_(role_of), seconds_(seconds) {}

  // Messages of one value come from many devices, and among them is what the device itself has of it: in any order.
  std::string of(const Trace& trace) {
    std::string text;
    std::map<std::tuple<std::size_t, std::size_t, double, double, double>, std::int64_t> messages;
    std::map<std::string, std::int64_t> copies;
    auto end_messages = [&] {
      for (const auto& [one, count] : messages)
        text += fmt::format("{} messages {} {} {} {} {}\n", count, std::get<0>(one), std::get<1>(one), std::get<2>(one),
                            std::get<3>(one), std::get<4>(one));
      messages.clear();
      for (const auto& [copy, count] : copies) text += fmt::format("{} copies {}\n", count, copy);
      copies.clear();
    };
    for (const Event& event : trace) {
      if (const auto* message = std::get_if<MessageEvent>(&event.does)) {
        const Route route = route_between(cluster_, message->from, device_);
        ++messages[{message->value, role_of_(message->from), message->bytes, route.latency, route.bandwidth}];
        ++next_;
        continue;
      }
      if (std::holds_alternative<CopyEvent>(event.does)) {
        ++copies[fmt::format("{} {:.1e}", event.name, seconds_[next_++])];
        continue;
      }
      end_messages();
      if (const auto* repeat = std::get_if<Repeat>(&event.does)) {
        text += fmt::format("repeat {}\n{}end\n", repeat->times, of(repeat->body));
        continue;
      }
      text += fmt::format("{} {:.1e}\n", event.name, seconds_[next_++]);
    }
    end_messages();
    return text;
  }

 private:
  const std::int64_t device_;
  const Cluster& cluster_;
  const std::function<std::size_t(std::int64_t)>& role_of_;
  const std::vector<double>& seconds_;
  std::size_t next_ = 0;
};

}  // namespace

std::string signature(const DevicePart& part, std::int64_t device, const Cluster& cluster,
                      const std::function<std::size_t(std::int64_t device)>& role_of) {
  return Signature(device, cluster, role_of, part.seconds).of(part.trace) + fmt::format("{}", part.peak_bytes);
}

}  // namespace tap::cost
