#include "cost/model/links.h"

#include <algorithm>
#include <cstdlib>

namespace tap::cost {

Way way_between(const Cluster& cluster, std::int64_t from, std::int64_t to) {
  if (from == to) return {};
  for (const PairLink& pair : cluster.pairs)
    if ((pair.from == from && pair.to == to) || (pair.from == to && pair.to == from))
      return {pair.latency, pair.bandwidth};
  Way way;
  for (const Link& link : cluster.links) {
    const std::int64_t groups = link.count;
    way = {link.latency, link.bandwidth};
    if (groups < 1) return way;  // it joins all groups
    const std::int64_t a = from % groups, b = to % groups;
    from /= groups;
    to /= groups;
    if (link.shared) way.bandwidth /= static_cast<double>(groups);
    if (link.ring) {
      const std::int64_t apart = std::abs(a - b), hops = std::max<std::int64_t>(std::min(apart, groups - apart), 1);
      way.latency *= static_cast<double>(hops);
    }
    if (from == to) return way;
  }
  return way;  // beyond all levels: the outermost link
}

}  // namespace tap::cost
