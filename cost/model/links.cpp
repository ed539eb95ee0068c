#include "cost/model/links.h"

#include <algorithm>
#include <cstdlib>

namespace tap::cost {

Route route_between(const Cluster& cluster, std::int64_t from, std::int64_t to) {
  if (from == to) return {};
  for (const PairLink& pair : cluster.pairs)
    if ((pair.from == from && pair.to == to) || (pair.from == to && pair.to == from))
      return {pair.latency, pair.bandwidth};
  Route route;
  for (const Link& link : cluster.links) {
    const std::int64_t groups = link.count;
    route = {link.latency, link.bandwidth};
    if (groups < 1) return route;  // it joins all groups
    const std::int64_t a = from % groups, b = to % groups;
    from /= groups;
    to /= groups;
    if (link.shared) route.bandwidth /= static_cast<double>(groups);
    if (link.ring) {
      const std::int64_t distance = std::abs(a - b),
                         hops = std::max<std::int64_t>(std::min(distance, groups - distance), 1);
      route.latency *= static_cast<double>(hops);
    }
    if (from == to) return route;
  }
  return route;  // beyond all levels: the outermost link
}

}  // namespace tap::cost
