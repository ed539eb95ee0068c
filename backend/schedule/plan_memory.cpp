// Plans the arena: in the order of the start of their lifetimes, each buffer takes the smallest gap that fits and
// frees it at the end of its lifetime. Buffers are never moved, so the arena may be slightly larger than the peak of
// live memory.
#include <algorithm>
#include <map>
#include <set>

#include "backend/schedule/schedule.h"
#include "support/alignment.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::backend {
namespace {

class Arena {
 public:
  std::int64_t take(std::int64_t bytes) {
    auto gap = by_size_.lower_bound({bytes, 0});
    if (gap == by_size_.end()) return grow(bytes);
    auto [size, at] = *gap;
    remove(at, size);
    if (size > bytes) add(at + bytes, size - bytes);
    return at;
  }
  void release(std::int64_t at, std::int64_t bytes) {
    auto after = by_offset_.lower_bound(at);
    if (after != by_offset_.end() && after->first == at + bytes) {
      bytes += after->second;
      remove(after->first, after->second);
    }
    auto before = by_offset_.lower_bound(at);
    if (before != by_offset_.begin() && (--before, before->first + before->second == at)) {
      at = before->first;
      bytes += before->second;
      remove(before->first, before->second);
    }
    add(at, bytes);
  }
  std::int64_t end() const { return end_; }

 private:
  // Extends the last gap, or adds one.
  std::int64_t grow(std::int64_t bytes) {
    std::int64_t at = end_;
    if (!by_offset_.empty()) {
      auto [offset, size] = *by_offset_.rbegin();
      if (offset + size == end_) {
        remove(offset, size);
        at = offset;
      }
    }
    end_ = checked::add(at, bytes);
    return at;
  }
  void add(std::int64_t at, std::int64_t size) {
    by_offset_.emplace(at, size);
    by_size_.emplace(size, at);
  }
  void remove(std::int64_t at, std::int64_t size) {
    by_offset_.erase(at);
    by_size_.erase({size, at});
  }

  std::map<std::int64_t, std::int64_t> by_offset_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
  std::int64_t end_ = 0;
};

// Of all members of its row.
std::int64_t bytes_of(const Buffer& buffer) {
  return checked::mul(aligned_bytes(buffer.bytes()), ir::count_of(buffer.row));
}
// One after another.
void place_row(Buffer& buffer) {
  std::int64_t step = aligned_bytes(buffer.bytes());
  for (auto level = buffer.row.rbegin(); level != buffer.row.rend(); ++level) {
    level->steps.back() = step;
    step *= level->count;
  }
}

}  // namespace

void plan_memory(Schedule& schedule, const std::vector<Lifetime>& lifetimes) {
  std::vector<std::size_t> order;
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
    if (schedule.buffers[b].space == MemorySpace::arena && lifetimes[b].first <= lifetimes[b].last) order.push_back(b);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lifetimes[a].first < lifetimes[b].first; });
  Arena arena;
  std::multimap<std::int64_t, std::size_t> alive;  // by the last batch
  for (std::size_t b : order) {
    Buffer& buffer = schedule.buffers[b];
    for (auto it = alive.begin(); it != alive.end() && it->first < lifetimes[b].first; it = alive.erase(it)) {
      const Buffer& dead = schedule.buffers[it->second];
      if (dead.bytes() > 0) arena.release(dead.at, bytes_of(dead));
    }
    buffer.at = buffer.bytes() > 0 ? arena.take(bytes_of(buffer)) : 0;
    place_row(buffer);
    alive.emplace(lifetimes[b].last, b);
  }
  schedule.arena_bytes = arena.end();
}

std::int64_t aligned_bytes(std::int64_t bytes) {
  return checked::mul(checked::add(bytes, buffer_alignment - 1) / buffer_alignment, buffer_alignment);
}

}  // namespace tap::backend
