#include "ir/box_set.h"

#include <algorithm>
#include <utility>

namespace tap::ir {

// Merges adjacent boxes at once, so that the list stays short.
void BoxSet::add(Box box) {
  if (box.empty()) return;
  for (; !boxes_.empty(); boxes_.pop_back()) {
    const Box& last = boxes_.back();
    if (last.contains(box)) return;
    std::size_t other = 0, differ = 0;
    for (std::size_t d = 0; d < box.rank(); ++d)
      if (box.dims[d] != last.dims[d]) other = d, ++differ;
    bool joined = differ == 1 && box.dims[other].lo <= last.dims[other].hi && last.dims[other].lo <= box.dims[other].hi;
    if (!joined) break;
    box.dims[other] = hull(box.dims[other], last.dims[other]);
  }
  boxes_.push_back(std::move(box));
}

bool BoxSet::meets(const Box& box) const {
  return std::any_of(boxes_.begin(), boxes_.end(), [&](const Box& b) { return !disjoint(b, box); });
}

bool BoxSet::covers(const Box& box) const {
  std::vector<std::pair<Box, std::size_t>> open{{box, 0}};  // box, and the number of the first box that may cover it
  while (!open.empty()) {
    auto [rest, k] = std::move(open.back());
    open.pop_back();
    if (rest.empty()) continue;
    while (k < boxes_.size() && disjoint(rest, boxes_[k])) ++k;
    if (k == boxes_.size()) return false;
    for (Box& piece : subtract(rest, boxes_[k])) open.emplace_back(std::move(piece), k + 1);
  }
  return true;
}

}  // namespace tap::ir
