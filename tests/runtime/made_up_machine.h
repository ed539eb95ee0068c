// A machine in a folder, as the system describes its own: for tests of processors that this machine does not have.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/processors.h"
#include "temp_folder.h"

namespace tap {

inline processors::Set set_of(const std::vector<int>& numbers) {
  processors::Set set;
  for (const int number : numbers) set.add(number);
  return set;
}

class MadeUpMachine {
 public:
  const char* folder() const { return folder_.path().c_str(); }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void core(const std::vector<int>& processors, const std::string& list, const char* name = "core_cpus_list") const {
    for (const int processor : processors)
      write("cpu/cpu" + std::to_string(processor) + "/topology/" + name, list + "\n");
  }
  void node(int number, const std::string& list) const {
    write("node/node" + std::to_string(number) + "/cpulist", list + "\n");
  }

  // 2 sockets, which are nodes, of 4 cores with 2 siblings, n and n + 8, or n and n + 1.
  void two_sockets(bool siblings_are_neighbours) const {
    write("cpu/online", "0-15\n");
    write("node/online", "0-1\n");
    for (int c = 0; c < 8; ++c) {
      const int first = siblings_are_neighbours ? 2 * c : c, second = siblings_are_neighbours ? first + 1 : c + 8;
      core({first, second}, std::to_string(first) + (siblings_are_neighbours ? "-" : ",") + std::to_string(second));
    }
    node(0, siblings_are_neighbours ? "0-7" : "0-3,8-11");
    node(1, siblings_are_neighbours ? "8-15" : "4-7,12-15");
  }

 private:
  TempFolder folder_;
};

}  // namespace tap
