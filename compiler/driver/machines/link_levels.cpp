#include "compiler/driver/machines/link_levels.h"

#include <algorithm>

namespace tap::driver {
namespace {

// Latencies of pairs that are joined alike differ between measurements by tens of percent, those of other links by factors.
constexpr double alike = 1.6;
// So many pairs of a level may differ from the others: one disturbed measurement does not hide a level.
constexpr double exceptions = 0.1;

using Members = std::vector<const PairFigures*>;

template <class Value>
Figure middle_of(const Members& pairs, Value value, bool slower_is_more) {
  std::vector<double> values, spreads;
  for (const PairFigures* pair : pairs) {
    values.push_back(value(*pair).value);
    spreads.push_back(value(*pair).spread);
  }
  std::ranges::sort(values);
  std::ranges::sort(spreads);
  const std::size_t count = values.size();
  const double middle = values[slower_is_more ? count / 2 : (count - 1) / 2];  // of two, the slower
  const double between = middle > 0 ? (values[count * 3 / 4] - values[count / 4]) / 2 / middle : 0;
  return {middle, std::max(between, spreads[count / 2])};
}
Figure latency_of(const PairFigures& pair) { return pair.latency; }
Figure bandwidth_of(const PairFigures& pair) { return pair.bandwidth; }

bool is_alike(const Figure& own, const Figure& middle) {
  return own.value <= middle.value * alike && own.value * alike >= middle.value;
}

struct Level {
  Figure latency, bandwidth;
  Members agree, differ;
};
// Pre: not empty.
Level level_of(const Members& pairs) {
  Level level{middle_of(pairs, latency_of, true), middle_of(pairs, bandwidth_of, false), {}, {}};
  for (const PairFigures* pair : pairs)
    (is_alike(pair->latency, level.latency) && is_alike(pair->bandwidth, level.bandwidth) ? level.agree : level.differ)
        .push_back(pair);
  if (level.agree.empty()) return level;
  level.latency = middle_of(level.agree, latency_of, true);
  level.bandwidth = middle_of(level.agree, bandwidth_of, false);
  return level;
}

// The pairs in one block of `outer` devices that are in different blocks of `inner`.
Members between(const std::vector<PairFigures>& pairs, std::int64_t inner, std::int64_t outer) {
  Members found;
  for (const PairFigures& pair : pairs)
    if (pair.from / outer == pair.to / outer && pair.from / inner != pair.to / inner) found.push_back(&pair);
  return found;
}

std::string name_of_level(const std::vector<std::int64_t>& node, const Members& pairs,
                          const std::vector<LinkFigures>& levels) {
  const bool within = std::ranges::all_of(pairs, [&](const PairFigures* pair) {
    return node[static_cast<std::size_t>(pair->from)] == node[static_cast<std::size_t>(pair->to)];
  });
  const std::string name = within ? "node" : "network";
  const auto like_it =
      std::ranges::count_if(levels, [&](const LinkFigures& level) { return level.link.name.starts_with(name); });
  return like_it > 0 ? name + std::to_string(like_it + 1) : name;
}

}  // namespace

Links links_of(const std::vector<std::int64_t>& node, const std::vector<PairFigures>& pairs) {
  Links links;
  const auto devices = static_cast<std::int64_t>(node.size());
  for (std::int64_t inner = 1; inner < devices;) {
    // The largest blocks whose pairs agree; if there are none, the rest is one level with pairs of their own.
    std::int64_t outer = devices;
    Members members = between(pairs, inner, outer);
    Level level = level_of(members);
    for (std::int64_t tried = devices; tried > inner; --tried) {
      if (devices % tried != 0 || tried % inner != 0) continue;
      Members own = between(pairs, inner, tried);
      Level found = level_of(own);
      if (static_cast<double>(found.differ.size()) > exceptions * static_cast<double>(own.size())) continue;
      outer = tried;
      members = std::move(own);
      level = std::move(found);
      break;
    }
    const cost::Link link{name_of_level(node, members, links.levels), outer / inner, level.latency.value,
                          level.bandwidth.value};
    links.levels.push_back({link, level.latency.spread, level.bandwidth.spread, level.agree.size()});
    for (const PairFigures* pair : level.differ) links.pairs.push_back(*pair);
    inner = outer;
  }
  return links;
}

}  // namespace tap::driver
