#include "cost/search/state_table.h"

#include <algorithm>

namespace tap::cost {

std::uint64_t hash_of(std::span<const std::uint32_t> state) {
  std::uint64_t hash = 0;
  for (std::uint64_t part : state) {
    part = (part + 1) * 0x9e3779b97f4a7c15;
    part = (part ^ (part >> 32)) * 0xd6e8feb86659fd93;
    hash += part ^ (part >> 29);
  }
  return hash;
}

std::uint32_t StateTable::number(std::span<const std::uint32_t> state, std::uint64_t hash) {
  if (2 * (size() + 1) > places_.size()) grow();
  std::size_t at = hash & (places_.size() - 1);
  for (; places_[at] != none; at = (at + 1) & (places_.size() - 1)) {
    const std::uint32_t other = places_[at];
    if (hashes_[other] == hash && std::ranges::equal((*this)[other], state)) return other;
  }
  places_[at] = static_cast<std::uint32_t>(size());
  hashes_.push_back(hash);
  cells_.insert(cells_.end(), state.begin(), state.end());
  return places_[at];
}

void StateTable::grow() {
  places_.assign(2 * places_.size(), none);
  for (std::size_t k = 0; k < hashes_.size(); ++k) {
    std::size_t at = hashes_[k] & (places_.size() - 1);
    while (places_[at] != none) at = (at + 1) & (places_.size() - 1);
    places_[at] = static_cast<std::uint32_t>(k);
  }
}

}  // namespace tap::cost
