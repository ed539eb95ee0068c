// What the search knows of one way to hold the live values: its cost so far, and the last of its choices.
#pragma once

#include <cstdint>
#include <tuple>

#include "cost/search/hold_simulation.h"

namespace tap::cost {

struct Label {
  CostSoFar so_far;
  std::uint32_t node = 0;
};
inline bool dominates(const Label& a, const Label& b) {
  return a.so_far.live <= b.so_far.live && a.so_far.most <= b.so_far.most && dominates(a.so_far.cost, b.so_far.cost);
}

struct Candidate {
  Label label;  // with the node from which it comes
  std::uint32_t choice = 0;
};
// What beats a label comes before it.
inline bool comes_before(const Candidate& a, const Candidate& b) {
  auto values = [](const Candidate& c) {
    const CostSoFar& own = c.label.so_far;
    return std::tie(own.cost.seconds, own.cost.memory, own.cost.traffic, own.live, own.most, c.label.node, c.choice);
  };
  return values(a) < values(b);
}

}  // namespace tap::cost
