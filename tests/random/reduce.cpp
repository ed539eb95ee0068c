// Programs out of seeds, and smaller ones that fail alike.
#include <algorithm>
#include <chrono>
#include <random>

#include "tests/random/trial.h"

namespace tap::random {

std::vector<std::uint8_t> reduced(std::vector<std::uint8_t> bytes) {
  const Trial first = attempt(bytes);
  const std::string kind = first.failure.substr(0, 12);  // not to slip into another failure
  bytes.resize(std::min(bytes.size(), first.used));
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::minutes(1);  // what is not small by then stays as it is
  auto fails = [&](const std::vector<std::uint8_t>& b) { return attempt(b).failure.substr(0, 12) == kind; };
  for (bool better = true; better;) {
    better = false;
    auto take = [&](std::vector<std::uint8_t> candidate) {
      if (candidate == bytes || std::chrono::steady_clock::now() > end || !fails(candidate)) return;
      bytes = std::move(candidate);
      better = true;
    };
    for (std::size_t length = bytes.size() / 2; length > 0; length /= 2)
      for (std::size_t at = 0; at + length <= bytes.size(); at += length) {
        auto shorter = bytes;
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at),
                      shorter.begin() + static_cast<std::ptrdiff_t>(at + length));
        take(std::move(shorter));
      }
    for (std::size_t at = 0; at < bytes.size(); ++at)
      for (std::uint8_t smaller : {std::uint8_t{0}, static_cast<std::uint8_t>(bytes[at] / 2)}) {
        if (at >= bytes.size() || bytes[at] == 0) continue;
        auto other = bytes;
        other[at] = smaller;
        take(std::move(other));
      }
  }
  return bytes;
}

std::vector<std::uint8_t> bytes_of(std::uint64_t seed) {
  std::mt19937_64 numbers(seed);
  std::vector<std::uint8_t> bytes(1000);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(numbers() >> 24);
  return bytes;
}

}  // namespace tap::random
