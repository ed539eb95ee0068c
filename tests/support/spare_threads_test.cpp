#include "support/spare_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tap {
namespace {

TEST(SpareThreads, AloneItemsAreInOrder) {
  std::vector<std::size_t> seen;
  for_each_item(4, nullptr, [&]() -> WorkOnItem { return [&](std::size_t item) { seen.push_back(item); }; });
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(SpareThreads, EachItemOnce) {
  for (std::size_t count : {0, 1, 2, 3, 1000}) {
    SpareThreads spare(3);
    std::vector<std::atomic<int>> visits(count);
    for_each_item(count, &spare, [&]() -> WorkOnItem { return [&](std::size_t item) { ++visits[item]; }; });
    for (const std::atomic<int>& visit : visits) EXPECT_EQ(visit, 1);
    EXPECT_TRUE(spare.take() && spare.take() && spare.take());
    EXPECT_FALSE(spare.take());
  }
}

// The first waits for the second, which another thread has to run.
TEST(SpareThreads, ItemsAtTheSameTime) {
  SpareThreads spare(1);
  std::mutex mutex;
  std::condition_variable changed;
  bool second_ran = false;
  for_each_item(2, &spare, [&]() -> WorkOnItem {
    return [&](std::size_t item) {
      std::unique_lock lock(mutex);
      if (item == 1) second_ran = true, changed.notify_all();
      else changed.wait(lock, [&] { return second_ran; });
    };
  });
  EXPECT_TRUE(second_ran);
}

TEST(SpareThreads, AWorkerForEachThread) {
  SpareThreads spare(2);
  const std::thread::id here = std::this_thread::get_id();
  int workers = 0;
  for_each_item(100, &spare, [&]() -> WorkOnItem {
    EXPECT_EQ(std::this_thread::get_id(), here);
    ++workers;
    return [](std::size_t) {};
  });
  EXPECT_GE(workers, 1);
  EXPECT_LE(workers, 100);
}

// One item of two is over at once; the thread that ran it helps with the items within the other.
TEST(SpareThreads, ThreadsThatEndHelpOthers) {
  SpareThreads spare(1);
  std::atomic<bool> had_help = false;
  constexpr std::size_t many = 100'000'000;
  auto outer_items = [&]() -> WorkOnItem {
    return [&](std::size_t outer) {
      if (outer == 0) return;
      const std::thread::id own = std::this_thread::get_id();
      for_each_item(many, &spare, [&]() -> WorkOnItem {
        return [&, own](std::size_t) {
          if (had_help) throw std::out_of_range("enough");
          if (std::this_thread::get_id() != own) had_help = true;
          else std::this_thread::yield();
        };
      });
    };
  };
  EXPECT_THROW(for_each_item(2, &spare, outer_items), std::out_of_range);
  EXPECT_TRUE(had_help);
}

TEST(SpareThreads, FailuresAreRethrown) {
  SpareThreads spare(3);
  auto failing = [&]() -> WorkOnItem {
    return [](std::size_t item) {
      if (item == 5) throw std::runtime_error("five");
    };
  };
  EXPECT_THROW(for_each_item(1000, &spare, failing), std::runtime_error);
  EXPECT_THROW(for_each_item(1000, nullptr, failing), std::runtime_error);
  EXPECT_TRUE(spare.take() && spare.take() && spare.take());
}

}  // namespace
}  // namespace tap
