// Holdings by number, so that a state of the search is a few numbers.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cost/search/hold_simulation.h"

namespace tap::cost {

class HoldingTable {
 public:
  std::uint32_t number(const Holding& holding) {
    auto [place, fresh] = numbers_.try_emplace(holding, static_cast<std::uint32_t>(list_.size()));
    if (fresh) list_.push_back(holding);
    return place->second;
  }
  const Holding& operator[](std::uint32_t number) const { return list_[number]; }

 private:
  struct Hash {
    std::size_t operator()(const Holding& holding) const {
      std::uint64_t hash =
          holding.value + (std::uint64_t{holding.stage} << 32) + (std::uint64_t{holding.in_parts} << 63);
      for (Held version : holding.versions()) hash = (hash ^ version) * 0x9E3779B97F4A7C15u;
      return hash ^ hash >> 32;
    }
  };

  std::unordered_map<Holding, std::uint32_t, Hash> numbers_;
  std::vector<Holding> list_;
};

}  // namespace tap::cost
