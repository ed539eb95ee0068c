// From the figures of pairs of devices to the links of a machine file: pairs that agree become one level of the hierarchy, and
// those that differ from their level stay pairs.
//
//   0-1 0.3 us, 2-3 0.3 us, all others 2 us     a link that joins two devices, and one that joins two of these groups
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost/machine/device.h"

namespace tap::driver {

struct Figure {
  double value = 0;
  double spread = 0;  // half of the middle half of the measurements, relative
};
struct PairFigures {
  std::int64_t from = 0, to = 0;
  Figure latency = {}, bandwidth = {};
};

struct LinkFigures {
  cost::Link link;
  double latency_spread = 0, bandwidth_spread = 0;  // relative: of the pairs, and of each one's measurements
  std::size_t pairs = 0;                            // that agree
};
struct Links {
  std::vector<LinkFigures> levels;  // innermost first
  std::vector<PairFigures> pairs;   // that differ from their level
};

// `node`: of each device, the first one of its node, for the names of levels. Pre: `pairs` has each two devices once, the lower
// number first.
Links links_of(const std::vector<std::int64_t>& node, const std::vector<PairFigures>& pairs);

}  // namespace tap::driver
