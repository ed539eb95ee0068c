// The processors of threads: each its own where a run takes all, and none where a launcher has chosen.
#include "runtime/pinning.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "runtime/executor_pool.h"

namespace tap {
namespace {

TEST(Pinning, WhereARunTakesAllProcessors) {
  EXPECT_EQ(first_pinned(8, {}, 8, 8), 0);
  EXPECT_EQ(first_pinned(4, {0, 2}, 8, 8), 0);
  EXPECT_EQ(first_pinned(4, {1, 2}, 8, 8), 4);
  EXPECT_EQ(first_pinned(2, {3, 4}, 8, 8), 6);
}

TEST(Pinning, OtherwiseTheSystemChooses) {
  EXPECT_EQ(first_pinned(4, {}, 8, 8), -1);
  EXPECT_EQ(first_pinned(8, {0, 2}, 8, 8), -1);  // more threads than processors
  EXPECT_EQ(first_pinned(1, {}, 1, 1), -1);
  EXPECT_EQ(first_pinned(1, {1, 8}, 8, 8), -1);
}

TEST(Pinning, AMaskOfTheLauncherWins) {
  EXPECT_EQ(first_pinned(4, {}, 4, 8), -1);
  EXPECT_EQ(first_pinned(1, {}, 1, 8), -1);
}

std::string mask_of_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  std::string found;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &mask)) found += std::to_string(processor) + " ";
  return found;
}

// What two threads of a pool may use, in the order of threads.
std::array<std::string, 2> masks_in_pool(std::int64_t first) {
  struct Seen {
    std::array<std::string, 2> masks;
    std::atomic<int> arrived = 0;
  } seen;
  executor::Pool pool;
  EXPECT_TRUE(pool.start(2, first));
  pool.run(
      [](void* data, std::int64_t thread) {
        auto* own = static_cast<Seen*>(data);
        own->masks[static_cast<std::size_t>(thread)] = mask_of_thread();
        ++own->arrived;
        for (int tries = 0; own->arrived < 2 && tries < 20000; ++tries)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      },
      &seen);
  pool.stop();
  return seen.masks;
}

TEST(Pinning, EachThreadOfAPoolHasItsOwn) {
  cpu_set_t all;
  CPU_ZERO(&all);
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
  const std::string before = mask_of_thread();
  const auto pinned = masks_in_pool(0);
  EXPECT_EQ(pinned[0] + pinned[1], before.substr(0, (pinned[0] + pinned[1]).size()));
  EXPECT_EQ(std::count(pinned[0].begin(), pinned[0].end(), ' '), 1);
  EXPECT_EQ(std::count(pinned[1].begin(), pinned[1].end(), ' '), 1);
  EXPECT_EQ(mask_of_thread(), before);  // the caller's is as it was
  const auto free = masks_in_pool(-1);
  EXPECT_EQ(free[0], before);
  EXPECT_EQ(free[1], before);
}

}  // namespace
}  // namespace tap
