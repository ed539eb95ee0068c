// Cores, siblings and nodes of made-up machines, and limits of time of made-up control groups.
#include "runtime/processors.h"

#include <gtest/gtest.h>

#include <numeric>

#include "made_up_machine.h"
#include "runtime/quota.h"

namespace tap::processors {
namespace {

std::vector<int> up_to(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(Processors, ListsOfTheSystem) {
  const MadeUpMachine machine;
  const std::string path = std::string(machine.folder()) + "/list";
  auto read = [&](const std::string& text, const std::vector<int>& expected) {
    machine.write("list", text);
    Set set = set_of({77});
    EXPECT_TRUE(read_set(path.c_str(), set)) << text;
    EXPECT_EQ(set, set_of(expected)) << text;
  };
  read("0\n", {0});
  read("0-3,8\n", {0, 1, 2, 3, 8});
  read("1,3-3,8191\n", {1, 3, 8191});
  read("5", {5});
  read("\n", {});
  read("", {});
  for (const char* text : {"8192\n", "99999999999999999999\n", "3-1\n", "0-\n", "0-,2\n", "-1\n", "0,\n", ",0\n", "a\n",
                           "0 1\n", "0-3:1/2\n", "0--3\n", "0-8192\n"}) {
    machine.write("list", text);
    Set set = set_of({77});
    EXPECT_FALSE(read_set(path.c_str(), set)) << text;
    EXPECT_EQ(set, Set()) << text;
  }
  Set set = set_of({77});
  EXPECT_FALSE(read_set((path + "s").c_str(), set));
  EXPECT_EQ(set, Set());
}

TEST(Processors, Sets) {
  Set set = set_of({0, 63, 64, 8191});
  EXPECT_EQ(set.count(), 4);
  EXPECT_TRUE(set.includes(set_of({64, 0})));
  EXPECT_FALSE(set.includes(set_of({64, 1})));
  set.remove(64);
  set.add(set_of({5}));
  EXPECT_EQ(set, set_of({0, 5, 63, 8191}));
  set.keep(set_of({5, 6, 8191}));
  EXPECT_EQ(set, set_of({5, 8191}));
  set.drop(set_of({5}));
  EXPECT_EQ(set, set_of({8191}));
}

TEST(Processors, CoresThatTheMaskTouches) {
  for (const bool neighbours : {false, true}) {
    const MadeUpMachine machine;
    machine.two_sockets(neighbours);
    EXPECT_EQ(count_cores(set_of(up_to(16)), machine.folder()), 8);
    EXPECT_EQ(count_cores(set_of(up_to(8)), machine.folder()), neighbours ? 4 : 8);
    EXPECT_EQ(count_cores(set_of({9}), machine.folder()), 1);  // one sibling of a core
    EXPECT_EQ(count_cores(set_of({0, 1, 8, 9}), machine.folder()), 2);
    EXPECT_EQ(count_cores(set_of({1, 2, 10}), machine.folder()), neighbours ? 3 : 2);
    EXPECT_EQ(count_cores({}, machine.folder()), 0);
  }
}

TEST(Processors, WithoutFilesEachIsACore) {
  const MadeUpMachine machine;
  EXPECT_EQ(count_cores(set_of({0, 1, 5}), machine.folder()), 3);
  machine.core({0, 1}, "0-1", "thread_siblings_list");  // an older system
  EXPECT_EQ(count_cores(set_of({0, 1, 5}), machine.folder()), 2);
  machine.core({0}, "0");  // which wins
  EXPECT_EQ(count_cores(set_of({0, 1}), machine.folder()), 2);
  machine.core({0, 1}, "nonsense");
  EXPECT_EQ(count_cores(set_of({0, 1}), machine.folder()), 1);
  machine.core({0}, "1");
  machine.core({1}, "0");
  machine.core({0, 1}, "7", "thread_siblings_list");
  EXPECT_EQ(count_cores(set_of({0, 1}), machine.folder()), 2);
}

TEST(Processors, Nodes) {
  const MadeUpMachine machine;
  Set set = set_of({77});
  EXPECT_FALSE(read_nodes(machine.folder(), set));
  EXPECT_EQ(set, Set());
  machine.two_sockets(false);
  machine.node(2, "");  // memory without processors
  EXPECT_TRUE(read_nodes(machine.folder(), set));
  EXPECT_EQ(set, set_of({0, 1}));
  EXPECT_TRUE(read_node(1, machine.folder(), set));
  EXPECT_EQ(set, set_of({4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_TRUE(read_node(2, machine.folder(), set));
  EXPECT_EQ(set, Set());
  EXPECT_FALSE(read_node(3, machine.folder(), set));
}

TEST(Processors, TheDefaultIsNoMoreThanTheMask) {
  Set allowed;
  ASSERT_TRUE(read_allowed(allowed));
  EXPECT_GE(allowed.count(), 1);
  EXPECT_GE(default_threads(), 1);
  EXPECT_LE(default_threads(), allowed.count());
}

TEST(Quota, OfOneFile) {
  EXPECT_EQ(processors_allowed("150000 100000"), 1.5);
  EXPECT_EQ(processors_allowed("max 100000\n"), 0);
  EXPECT_EQ(processors_allowed("max"), 0);
  EXPECT_EQ(processors_allowed(""), 0);
  EXPECT_EQ(processors_allowed("1000"), 0);
  EXPECT_EQ(processors_allowed("-1 100000"), 0);
  EXPECT_EQ(processors_allowed("100000 0"), 0);
}

TEST(Quota, TheLeastOfTheGroupAndThoseAroundIt) {
  const MadeUpMachine machine;
  const std::string groups = std::string(machine.folder()) + "/groups";
  auto threads = [&] { return threads_of_quota(groups.c_str(), machine.folder()); };
  EXPECT_EQ(threads(), 0);  // no files at all
  machine.write("groups", "1:cpu:/elsewhere\n0::/jobs/12/step\n");
  EXPECT_EQ(threads(), 0);
  machine.write("jobs/12/step/cpu.max", "max 100000\n");
  machine.write("jobs/12/cpu.max", "250000 100000\n");
  EXPECT_EQ(threads(), 3);  // 2.5 processors
  machine.write("jobs/cpu.max", "800000 100000\n");
  EXPECT_EQ(threads(), 3);
  machine.write("cpu.max", "200000 100000\n");
  EXPECT_EQ(threads(), 2);
  machine.write("jobs/12/step/cpu.max", "1000 100000\n");
  EXPECT_EQ(threads(), 1);
  machine.write("elsewhere/cpu.max", "10 100000\n");
  machine.write("groups", "0::/\n");  // a container, which does not see its name outside
  EXPECT_EQ(threads(), 2);
  machine.write("groups", "0::/of/the/host\n");
  EXPECT_EQ(threads(), 2);
  machine.write("cpu.max", "99999999999999 1\n");
  EXPECT_EQ(threads(), 1000000);
}

}  // namespace
}  // namespace tap::processors
