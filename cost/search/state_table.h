// States of the search by number. A state is how each live value is held, as numbers in the order of the values; all states of
// one table have equally many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tap::cost {

using State = std::vector<std::uint32_t>;

// That of a state is the sum of those of its parts.
std::uint64_t hash_of(std::span<const std::uint32_t> state);

class StateTable {
 public:
  explicit StateTable(std::size_t width) : width_(width), places_(16, none) {}

  // Adds the state if it is new: its number is then the size before. Pre: its hash.
  std::uint32_t number(std::span<const std::uint32_t> state, std::uint64_t hash);
  std::span<const std::uint32_t> operator[](std::size_t number) const {
    return {cells_.data() + number * width_, width_};
  }
  std::size_t size() const { return hashes_.size(); }
  std::size_t width() const { return width_; }

 private:
  static constexpr std::uint32_t none = ~0u;
  void grow();

  std::size_t width_;
  std::vector<std::uint32_t> cells_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> places_;  // open addressing; a power of two, at most half full
};

// How two states are merged by value, found once for all pairs with the same values.
class Interleaving {
 public:
  Interleaving() = default;
  template <class ValueOf>
  Interleaving(const State& a, const State& b, ValueOf value_of) {
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      const bool first = j == b.size() || (i < a.size() && value_of(a[i]) < value_of(b[j]));
      from_first_.push_back(first);
      ++(first ? i : j);
    }
  }
  void merge(const State& a, const State& b, State& merged) const {
    merged.clear();
    std::size_t i = 0, j = 0;
    for (bool first : from_first_) merged.push_back(first ? a[i++] : b[j++]);
  }

 private:
  std::vector<bool> from_first_;
};

}  // namespace tap::cost
