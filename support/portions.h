// How threads share the tiles of a batch.
#pragma once

#include <stdint.h>

namespace tap {

// Tiles, numbered across the tasks of a batch, are taken in portions: at first large ones, since a call may repeat work such
// as packing, and then ever smaller ones, so that threads end at the same time. A portion's size depends on its begin alone.
class Portions {
 public:
  Portions(int64_t tiles, int64_t threads, bool whole)
      : tiles_(tiles),
        shares_(whole ? 1 : 2 * threads),
        least_(whole ? tiles : (tiles + 8 * threads - 1) / (8 * threads)) {}
  int64_t tiles() const { return tiles_; }
  int64_t end_of(int64_t begin) const {
    const int64_t left = tiles_ - begin, share = left / shares_;
    const int64_t size = share > least_ ? share : least_;
    return begin + (size < left ? size : left);
  }
  int64_t count() const {
    int64_t number = 0;
    for (int64_t at = 0; at < tiles_; at = end_of(at)) ++number;
    return number;
  }
  // The next portion begins at `begin`. False: none is left.
  bool take(int64_t* next, int64_t* begin, int64_t* end) const {
    *begin = __atomic_load_n(next, __ATOMIC_RELAXED);
    do {
      if (*begin >= tiles_) return false;
      *end = end_of(*begin);
    } while (!__atomic_compare_exchange_n(next, begin, *end, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
  }

 private:
  int64_t tiles_, shares_, least_;
};

}  // namespace tap
