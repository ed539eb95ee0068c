// What a message costs between two devices: the innermost level of links that has both, or the pair's own link.
//
//   8 devices in each of 4 nodes: 3 and 5 are joined by the first level, 3 and 11 by the second
#pragma once

#include <cstdint>

#include "cost/machine/device.h"

namespace tap::cost {

struct Way {
  double latency = 0;    // seconds
  double bandwidth = 0;  // bytes per second; 0: nothing is said of links
};
Way way_between(const Cluster& cluster, std::int64_t from, std::int64_t to);

}  // namespace tap::cost
