// A device's trace as a list of steps, with jumps for repeats: a device can stop at any of them, to wait for another.
//
//   message, kernel, repeat 3 times { kernel }      receive · compute · begin, to 5 · compute · end, to 2
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cost/model/links.h"
#include "cost/simulate/device_part.h"
#include "cost/simulate/roles.h"

namespace tap::cost {

struct DeviceStep {
  enum class Kind : std::uint8_t { compute, receive, begin, end };
  Kind kind = Kind::compute;
  const Event* event = nullptr;
  double seconds = 0;                 // compute
  std::vector<std::size_t> memories;  // that have to be complete; of a message, where it goes; of an end, the results
  std::vector<std::size_t> written;   // compute
  std::size_t from = 0;               // receive: the role of the sender
  std::int64_t sender = 0;            // … and the sender itself
  std::size_t value = 0;
  double bytes = 0;
  Route route;
  std::int64_t trips = 1;   // begin, end
  std::size_t partner = 0;  // of a begin its end, and the other way round
};

struct DeviceSteps {
  std::vector<DeviceStep> list;
  std::map<std::size_t, std::int64_t> writes;  // by value: the steps that write it
};

DeviceSteps steps_of(const DevicePart& part, std::int64_t device, const Roles& roles, const Cluster& cluster);

}  // namespace tap::cost
