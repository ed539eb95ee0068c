// How threads share the tiles of a batch.
#pragma once

#include <stdint.h>

namespace tap {

// What is known of a batch's tiles.
enum class Tiles : int32_t {  // in the tables of schedules (runtime/schedule_tables.h)
  one_thread,                 // a single thread runs them all
  any_work,                   // some may take longer than others
  equal_work
};

// Every thread has a range of the tiles, the same one in each run: what it wrote there is in its caches when the next batch, or the
// next trip of a loop, reads it. It takes its range in portions: at first large ones, since a call may repeat work such as packing,
// and then ever smaller ones; a thread that has none left takes those of others, so that threads end at the same time.
//
//   16 tiles, 2 threads      0..4 4..6 6..7 7..8 | 8..12 12..14 14..15 15..16
//
// A portion is half of what is left of the range. Of tiles of equal work it is three quarters: that is fewer portions, and if one of
// two threads is half as fast as the other, they take 1.5 instead of 1.33 times as long.
//
// The last ranges have the tile more, if sizes differ: the last tile is often a part of one. Tiles are numbered across the tasks of a
// batch. A portion's size depends on its begin alone.
class Portions {
 public:
  // The first tile of a range that is not yet taken, counted from the first batch on: so what was taken of earlier batches lies
  // before all ranges of a batch, and who still looks at an earlier one finds all of it taken. Has a cache line for itself.
  struct alignas(64) Next {
    int64_t tile;
  };

  // `before`: the tiles of the batches that were taken before with the same `next`, all of them.
  Portions(int64_t tiles, int64_t threads, Tiles known, int64_t before = 0)
      : tiles_(tiles),
        ranges_(known == Tiles::one_thread ? 1 : threads),
        each_(tiles / ranges_),
        rest_(tiles % ranges_),
        before_(before),
        equal_(known == Tiles::equal_work) {
    const int64_t pieces = (equal_ ? 16 : 8) * threads;  // of which none needs to be divided
    least_ = known == Tiles::one_thread ? tiles : (tiles + pieces - 1) / pieces;
  }
  int64_t tiles() const { return tiles_; }
  int64_t ranges() const { return ranges_; }
  int64_t begin_of(int64_t range) const { return each_ * range + rest_ * range / ranges_; }
  // `range_end`: of the range that has `begin`.
  int64_t end_of(int64_t begin, int64_t range_end) const {
    const int64_t left = range_end - begin, share = equal_ ? left - left / 4 : (left + 1) / 2;
    const int64_t size = share > least_ ? share : least_;
    return begin + (size < left ? size : left);
  }
  int64_t count() const {
    int64_t number = 0;
    for (int64_t range = 0, at = 0; range < ranges_; ++range)
      for (const int64_t end = begin_of(range + 1); at < end; at = end_of(at, end)) ++number;
    return number;
  }

  // `next`: of all threads; before the first portion of the first batch is taken.
  static void begin(Next* next, int64_t threads) {
    for (int64_t range = 0; range < threads; ++range) __atomic_store_n(&next[range].tile, 0, __ATOMIC_RELAXED);
  }
  // The next portion of the thread begins at `begin`. False: none is left.
  bool take(Next* next, int64_t thread, int64_t* begin, int64_t* end) const {
    for (int64_t other = 0; other < ranges_; ++other) {
      const int64_t range = thread + other < ranges_ ? thread + other : (thread + other) % ranges_;
      if (take_of(&next[range].tile, range, begin, end)) return true;
    }
    return false;
  }
  // The same of its own range alone, if it has one.
  bool take_own(Next* next, int64_t thread, int64_t* begin, int64_t* end) const {
    return thread < ranges_ && take_of(&next[thread].tile, thread, begin, end);
  }
  // What take_own would take, if no other thread does.
  bool see_own(const Next* next, int64_t thread, int64_t* begin, int64_t* end) const {
    return thread < ranges_ && see(__atomic_load_n(&next[thread].tile, __ATOMIC_RELAXED), thread, begin, end);
  }

 private:
  bool see(int64_t taken, int64_t range, int64_t* begin, int64_t* end) const {
    const int64_t first = begin_of(range), last = begin_of(range + 1);
    *begin = taken - before_ > first ? taken - before_ : first;
    if (*begin >= last) return false;
    *end = end_of(*begin, last);
    return true;
  }
  bool take_of(int64_t* next, int64_t range, int64_t* begin, int64_t* end) const {
    int64_t taken = __atomic_load_n(next, __ATOMIC_RELAXED);
    do {
      if (!see(taken, range, begin, end)) return false;
    } while (!__atomic_compare_exchange_n(next, &taken, before_ + *end, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
  }

  int64_t tiles_, ranges_, each_, rest_, before_, least_ = 0;
  bool equal_;
};

}  // namespace tap
