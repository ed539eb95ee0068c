// How threads share the tiles of a batch.
#pragma once

#include <stdint.h>

namespace tap {

// What is known of a batch's tiles.
enum class Tiles : int32_t {
  one_thread,  // a single thread runs them all
  any_work,    // some may take longer than others
  equal_work
};

// Tiles, numbered across the tasks of a batch, are taken in portions: at first large ones, since a call may repeat work such
// as packing, and then ever smaller ones, so that threads end at the same time. A portion's size depends on its begin alone.
//
// Of tiles of any work, each portion is half of a thread's share of those left. Of tiles of equal work, portions are taken in
// rounds, one for each thread: three quarters of a thread's share of what the rounds before have left. Two threads take half as
// many portions, and if one of them is half as fast as the other, they take 1.5 instead of 1.33 times as long.
//
//   148 tiles, two threads     any work     37, 27, 21, 15, 12, 10, 10, 10, 6
//                              equal work   55, 55, 14, 14, 5, 5
class Portions {
 public:
  Portions(int64_t tiles, int64_t threads, Tiles known)
      : tiles_(tiles), threads_(threads), equal_(known == Tiles::equal_work) {
    const int64_t pieces = (equal_ ? 16 : 8) * threads;  // of which none needs to be divided
    least_ = known == Tiles::one_thread ? tiles : (tiles + pieces - 1) / pieces;
  }
  int64_t tiles() const { return tiles_; }
  int64_t end_of(int64_t begin) const {
    const int64_t left = tiles_ - begin, share = equal_ ? size_in_round(begin) : left / (2 * threads_);
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
  // At most one less than three quarters of the share, and less than least_ in the last rounds.
  int64_t size_in_round(int64_t begin) const {
    for (int64_t first = 0;;) {
      const int64_t size =
          (tiles_ - first) / (4 * threads_) * 3 + (tiles_ - first) % (4 * threads_) * 3 / (4 * threads_);
      if (size <= least_ || begin < first + threads_ * size) return size;
      first += threads_ * size;
    }
  }

  int64_t tiles_, threads_, least_;
  bool equal_;
};

}  // namespace tap
