// `--cpus LIST` on made-up machines.
#include "compiler/driver/machines/chosen_processors.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/exit_code.h"
#include "tests/runtime/made_up_machine.h"
#include "tests/runtime/temp_folder.h"

namespace tap::driver {
namespace {

using Ranges = std::vector<std::pair<int, int>>;

TEST(ChosenProcessors, Lists) {
  auto read = [](const char* text) { return read_processor_list(text).value(); };
  EXPECT_EQ(read("3").processors, (Ranges{{3, 3}}));
  EXPECT_EQ(read("0-3,8").processors, (Ranges{{0, 3}, {8, 8}}));
  EXPECT_EQ(read("node:0").nodes, (Ranges{{0, 0}}));
  EXPECT_EQ(read("node:0-1,7,node:3").nodes, (Ranges{{0, 1}, {3, 3}}));
  EXPECT_EQ(read("node:0-1,7,node:3").processors, (Ranges{{7, 7}}));
  EXPECT_TRUE(read("all").all);
  EXPECT_FALSE(read("0").all);
  for (const char* text : {"",         ",",       "0,",       ",0",    "0,,1",  "a",   "3-1",  "-1",     "0-",
                           "0--1",     "0-1-2",   "1.5",      "0 1",   " 0",    "+1",  "node", "node:",  "node:a",
                           "node:1-0", "nodes:0", "node:all", "all,0", "0,all", "All", "0x1",  "node:0,"})
    EXPECT_FALSE(read_processor_list(text)) << text;
}

class Machine {
 public:
  explicit Machine(const std::vector<int>& allowed) {
    files_.two_sockets(false);
    files_.write("node/online", "0-2\n");
    files_.node(2, "");
    here_ = {set_of(sixteen()), set_of(allowed), files_.folder()};
  }
  static std::vector<int> sixteen() { return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }

  ChosenProcessors chosen(const std::string& list, bool in_job = false) const {
    return choose(read_processor_list(list).value(), "`--cpus`", here_, in_job);
  }
  void expect_chosen(const std::string& list, const std::vector<int>& expected, bool is_whole = true,
                     bool in_job = false) const {
    const ChosenProcessors found = chosen(list, in_job);
    EXPECT_EQ(found.set, set_of(expected)) << list;
    EXPECT_EQ(found.is_whole, is_whole) << list;
    EXPECT_FALSE(found.siblings) << list;
  }
  void expect_refused(const std::string& list, const std::string& message, const std::string& help,
                      bool in_job = false) const {
    const ThrownFailure thrown = thrown_by([&] { chosen(list, in_job); });
    EXPECT_EQ(thrown.exit_code, exit_code::resource) << list;
    EXPECT_EQ(thrown.id, "T1206") << list;
    EXPECT_EQ(thrown.message, "`--cpus`: " + message) << list;
    EXPECT_EQ(thrown.help, help) << list;
  }

 private:
  MadeUpMachine files_;
  Processors here_;
};

TEST(ChosenProcessors, ByTheirNumbersAndNodes) {
  const Machine machine(Machine::sixteen());
  machine.expect_chosen("3", {3});
  machine.expect_chosen("0-3,8,2", {0, 1, 2, 3, 8});
  machine.expect_chosen("node:1", {4, 5, 6, 7, 12, 13, 14, 15});
  machine.expect_chosen("node:0-1", Machine::sixteen());
  machine.expect_chosen("node:0-2", Machine::sixteen());  // node 2 has none
  machine.expect_chosen("node:0,15", {0, 1, 2, 3, 8, 9, 10, 11, 15});
  EXPECT_EQ(machine.chosen("all").set, set_of(Machine::sixteen()));
  EXPECT_TRUE(machine.chosen("all").siblings);
}

TEST(ChosenProcessors, ThatTheMachineLacks) {
  const Machine machine(Machine::sixteen());
  machine.expect_refused("16", "this machine has no processor 16", "it has processors 0-15");
  machine.expect_refused("0-99,200", "this machine has no processors 16-99,200", "it has processors 0-15");
  machine.expect_refused("99999999999", "this machine has no processor 1000000000", "it has processors 0-15");
  machine.expect_refused("node:3", "this machine has no node 3", "it has nodes 0-2");
  machine.expect_refused("node:0-4", "this machine has no nodes 3-4", "it has nodes 0-2");
  machine.expect_refused("node:2", "no processor is of node 2", "");
}

TEST(ChosenProcessors, ThatThisProcessMayNotUse) {
  const std::string allows = "; a launcher, `taskset` or a container has set it";
  const Machine machine({1, 4, 5});
  machine.expect_chosen("1", {1});
  machine.expect_chosen("node:1", {4, 5}, false);  // as far as it may
  EXPECT_EQ(machine.chosen("all").set, set_of({1, 4, 5}));
  machine.expect_refused("0", "this process may not use processor 0",
                         "its affinity mask allows processors 1,4-5" + allows);
  machine.expect_refused("0-2,4", "this process may not use processors 0,2",
                         "its affinity mask allows processors 1,4-5" + allows);
  machine.expect_refused("16", "this machine has no processor 16", "it has processors 0-15");
  Machine({1}).expect_refused("node:1", "this process may not use processors 4-7,12-15",
                              "its affinity mask allows processor 1" + allows);
}

TEST(ChosenProcessors, AProcessOfAJobHasAPart) {
  const std::string allows = "its affinity mask allows processors 4-5; a launcher, `taskset` or a container has set it";
  const Machine machine({4, 5});
  machine.expect_chosen("4", {4}, true, true);
  machine.expect_chosen("0-4", {4}, false, true);
  machine.expect_chosen("node:1", {4, 5}, false, true);
  machine.expect_refused("0-3", "this process may not use processors 0-3", allows, true);
  machine.expect_refused("node:0", "this process may not use processors 0-3,8-11", allows, true);
  machine.expect_refused("4,16", "this machine has no processor 16", "it has processors 0-15", true);
}

TEST(ChosenProcessors, AMachineWithoutNodesIsOne) {
  const MadeUpMachine files;
  const Processors here{set_of({0, 1, 2}), set_of({0, 1}), files.folder()};
  EXPECT_EQ(choose(*read_processor_list("node:0"), "", here, false).set, set_of({0, 1}));
  expect_failure([&] { choose(*read_processor_list("node:1"), "`--cpus node:1`", here, false); }, exit_code::resource,
                 "`--cpus node:1`: this machine has no node 1\nit has node 0");
}

}  // namespace
}  // namespace tap::driver
