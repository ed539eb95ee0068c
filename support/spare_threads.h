// Threads that several computations share: each has its own, and takes one more while some are free.
//
//   SpareThreads spare(3);
//   for_each_item(100, &spare, [&] { return [own = Cache()](std::size_t item) mutable { … }; });
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>

namespace tap {

class SpareThreads {
 public:
  explicit SpareThreads(std::size_t count) : free_(static_cast<std::ptrdiff_t>(count)) {}
  bool take() {
    const std::lock_guard lock(mutex_);
    if (free_ <= 0) return false;
    --free_;
    return true;
  }
  void give() {
    const std::lock_guard lock(mutex_);
    ++free_;
  }
  // What was given, even if another has taken it: then there are fewer than none until that one gives it back.
  void take_back() {
    const std::lock_guard lock(mutex_);
    --free_;
  }

 private:
  std::mutex mutex_;
  std::ptrdiff_t free_;
};

// What one thread does with each of its items.
using WorkOnItem = std::function<void(std::size_t item)>;

// Visits the numbers below `count` once each, and begins them in order. `worker` is called on this thread, once for it and for
// each that it takes; null `spare`: none. Rethrows what a worker throws, after all have ended; then some items may be left out.
void for_each_item(std::size_t count, SpareThreads* spare, const std::function<WorkOnItem()>& worker);

}  // namespace tap
