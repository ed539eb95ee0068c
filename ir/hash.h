// Hash mixing, deterministic on every machine.
#pragma once

#include <cstddef>
#include <string_view>

namespace tap::ir {

inline std::size_t hash_combine(std::size_t seed, std::size_t value) {
  std::size_t h = seed ^ (value + 0x9e3779b97f4a7c15u + (seed << 12) + (seed >> 4));
  h ^= h >> 32;
  return h * 0xd6e8feb86659fd93u;
}

inline std::size_t hash_text(std::size_t seed, std::string_view text) {
  for (char c : text) seed = hash_combine(seed, static_cast<unsigned char>(c));
  return hash_combine(seed, text.size());
}

}  // namespace tap::ir
