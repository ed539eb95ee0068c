// The processors of threads: each its own where a run takes all, and none where a launcher has chosen.
#include "runtime/pinning.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "made_up_machine.h"
#include "runtime/executor_pool.h"

namespace tap {
namespace {

using Numbers = std::vector<std::int32_t>;

processors::Set first_processors(int count) {
  processors::Set set;
  for (int number = 0; number < count; ++number) set.add(number);
  return set;
}

TEST(Pinning, WithoutSiblingsInTheOrderOfNumbers) {
  const MadeUpMachine machine;  // no files
  const std::vector<Core> cores = cores_of(first_processors(8), machine.folder());
  EXPECT_EQ(pinned_to(8, {}, cores), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(pinned_to(4, {0, 2}, cores), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(pinned_to(4, {1, 2}, cores), (Numbers{4, 5, 6, 7}));
  EXPECT_EQ(pinned_to(2, {3, 4}, cores), (Numbers{6, 7}));
}

TEST(Pinning, OneThreadForEachCoreOrForEachProcessor) {
  const MadeUpMachine machine;
  machine.two_sockets(false);
  const std::vector<Core> cores = cores_of(first_processors(16), machine.folder());
  EXPECT_EQ(pinned_to(8, {}, cores), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(pinned_to(4, {1, 2}, cores), (Numbers{4, 5, 6, 7}));
  EXPECT_EQ(pinned_to(16, {}, cores), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(pinned_to(8, {0, 2}, cores), (Numbers{0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(pinned_to(8, {1, 2}, cores), (Numbers{4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_EQ(pinned_to(4, {1, 4}, cores), (Numbers{2, 3, 10, 11}));
}

TEST(Pinning, SiblingsThatAreNeighbours) {
  const MadeUpMachine machine;
  machine.two_sockets(true);
  const std::vector<Core> cores = cores_of(first_processors(16), machine.folder());
  EXPECT_EQ(pinned_to(8, {}, cores), (Numbers{0, 2, 4, 6, 8, 10, 12, 14}));
  EXPECT_EQ(pinned_to(4, {1, 2}, cores), (Numbers{8, 10, 12, 14}));
  EXPECT_EQ(pinned_to(16, {}, cores), (Numbers{0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15}));
  EXPECT_EQ(pinned_to(8, {1, 2}, cores), (Numbers{8, 10, 12, 14, 9, 11, 13, 15}));
}

TEST(Pinning, ByNodesWhateverTheNumbers) {
  const MadeUpMachine machine;  // even numbers are of node 3, odd ones of node 1; node 0 has memory only
  machine.write("node/online", "0-1,3\n");
  machine.node(0, "");
  machine.node(1, "1,3,5,7");
  machine.node(3, "0,2,4,6");
  EXPECT_EQ(pinned_to(4, {0, 2}, cores_of(first_processors(8), machine.folder())), (Numbers{1, 3, 5, 7}));
  EXPECT_EQ(pinned_to(4, {1, 2}, cores_of(first_processors(8), machine.folder())), (Numbers{0, 2, 4, 6}));
}

TEST(Pinning, AMaskMayHaveOneSiblingOfACore) {
  const MadeUpMachine machine;
  machine.two_sockets(false);
  processors::Set mask = first_processors(2);  // cores 0 and 1, both siblings of 2, one of 5
  for (const int number : {2, 10, 13}) mask.add(number);
  const std::vector<Core> cores = cores_of(mask, machine.folder());
  EXPECT_EQ(cores, (std::vector<Core>{{0, {0}}, {0, {1}}, {0, {2, 10}}, {1, {13}}}));
  EXPECT_EQ(pinned_to(4, {}, cores), (Numbers{0, 1, 2, 13}));
  EXPECT_EQ(pinned_to(5, {}, cores), (Numbers{0, 1, 2, 13, 10}));
}

TEST(Pinning, OtherwiseTheSystemChooses) {
  const MadeUpMachine machine;
  machine.two_sockets(false);
  const std::vector<Core> cores = cores_of(first_processors(16), machine.folder());
  EXPECT_EQ(pinned_to(4, {}, cores), Numbers());
  EXPECT_EQ(pinned_to(12, {}, cores), Numbers());  // more threads than cores
  EXPECT_EQ(pinned_to(17, {}, cores), Numbers());  // … than processors
  EXPECT_EQ(pinned_to(8, {0, 4}, cores), Numbers());
  EXPECT_EQ(pinned_to(1, {1, 8}, cores), Numbers());
  EXPECT_EQ(pinned_to(1, {}, cores_of(first_processors(1), machine.folder())), Numbers());
}

TEST(Pinning, AMaskOfTheLauncherWinsUnlessTheUserChose) {
  const MadeUpMachine machine;
  machine.two_sockets(false);
  const processors::Set four = first_processors(4);
  EXPECT_EQ(pinned_to(4, {}, OwnProcessors{four, 16, false}, machine.folder()), Numbers());
  EXPECT_EQ(pinned_to(4, {}, OwnProcessors{four, 16, true}, machine.folder()), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(pinned_to(4, {}, OwnProcessors{four, 4, false}, machine.folder()), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(pinned_to(3, {}, OwnProcessors{four, 16, true}, machine.folder()), Numbers());
  EXPECT_EQ(pinned_to(1, {}, OwnProcessors{first_processors(1), 16, true}, machine.folder()), Numbers());
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
std::array<std::string, 2> masks_in_pool(const std::int32_t* pinned_to) {
  struct Seen {
    std::array<std::string, 2> masks;
    std::atomic<int> arrived = 0;
  } seen;
  executor::Pool pool;
  EXPECT_TRUE(pool.start(2, pinned_to));
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
  processors::Set all;
  ASSERT_TRUE(processors::read_allowed(all));
  if (all.count() < 2) GTEST_SKIP() << "one processor";
  Numbers last;  // the last two, the last one first
  for (int number = processors::Set::most - 1; number >= 0 && last.size() < 2; --number)
    if (all.has(number)) last.push_back(number);
  const std::string before = mask_of_thread();
  const auto pinned = masks_in_pool(last.data());
  EXPECT_EQ(pinned[0], std::to_string(last[0]) + " ");
  EXPECT_EQ(pinned[1], std::to_string(last[1]) + " ");
  EXPECT_EQ(mask_of_thread(), before);  // the caller's is as it was
  const auto free = masks_in_pool(nullptr);
  EXPECT_EQ(free[0], before);
  EXPECT_EQ(free[1], before);
}

}  // namespace
}  // namespace tap
