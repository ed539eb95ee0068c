// The link between two devices, which gives the cost of a message: the innermost level that contains both, or a link
// for this pair.
//
//   8 devices in each of 4 nodes: 3 and 5 are joined by the first level, 3 and 11 by the second
#pragma once

#include <cstdint>

#include "cost/machine/device.h"

namespace tap::cost {

struct Route {
  double latency = 0;    // seconds
  double bandwidth = 0;  // bytes per second; 0: not specified
};
Route route_between(const Cluster& cluster, std::int64_t from, std::int64_t to);

}  // namespace tap::cost
