#include "backend/lower/reused_memory.h"

#include <algorithm>

#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

std::vector<std::optional<Needed>> lifetimes(const Graph& graph,
                                             const std::vector<std::optional<std::size_t>>& runs_at) {
  std::vector<std::optional<Needed>> found(graph.values.size());
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    if (!runs_at[o]) continue;
    for (const auto* list : {&graph.operations[o].operands, &graph.operations[o].results})
      for (ValueId v : *list) {
        auto& its = found[v.index()];
        if (!its) its = Needed{*runs_at[o], *runs_at[o]};
        its->first = std::min(its->first, *runs_at[o]);
        its->last = std::max(its->last, *runs_at[o]);
      }
  }
  return found;
}

std::size_t ReusedMemory::block_for(const Needed& needed, double bytes) {
  auto is_free = [&](const Block& block) {
    return std::ranges::none_of(block.used,
                                [&](const Needed& l) { return l.first <= needed.last && needed.first <= l.last; });
  };
  std::size_t best = blocks_.size();
  for (std::size_t k = 0; k < blocks_.size(); ++k)
    if (is_free(blocks_[k]) && (best == blocks_.size() ||
                                std::max(bytes - blocks_[k].bytes, 0.0) < std::max(bytes - blocks_[best].bytes, 0.0)))
      best = k;
  if (best == blocks_.size()) blocks_.emplace_back();
  blocks_[best].bytes = std::max(blocks_[best].bytes, bytes);
  blocks_[best].used.push_back(needed);
  return best;
}

}  // namespace tap::backend
