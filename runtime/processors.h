// Which processors a process may use, and which of them are siblings: hardware threads of one core, which share its units and
// caches. Two threads of a program on siblings are hardly faster than one, so a run has one thread per core unless the user wants
// more. As the system tells it in files; where it does not, as in some containers, each processor is a core, and all are of one node.
// Needs the C library only, since compiled libraries contain it.
//
//   cpu/cpu0/topology/core_cpus_list    0,8
//   node/node1/cpulist                  4-7,12-15
#pragma once

#include <stdint.h>

namespace tap::processors {

inline constexpr const char* system_folder = "/sys/devices/system";

// Numbers of processors, or of nodes.
struct Set {
  static constexpr int most = 8192;  // as many as Linux can have
  uint64_t words[most / 64] = {};

  bool has(int number) const { return (words[number / 64] >> (number % 64) & 1) != 0; }
  void add(int number) { words[number / 64] |= uint64_t{1} << (number % 64); }
  void remove(int number) { words[number / 64] &= ~(uint64_t{1} << (number % 64)); }
  int64_t count() const;
  bool includes(const Set& other) const;
  void add(const Set& other);
  void keep(const Set& other);  // and no others
  void drop(const Set& other);
  bool operator==(const Set&) const = default;
};

// Of the thread that calls: the processors that it may use. False: not known.
bool read_allowed(Set& set);
// From now on the thread that calls, and those that it starts, use only these. False: the system refuses.
bool allow_only(const Set& set);

// A file such as "0-3,8\n". False, and an empty set: there is none, or it is something else.
bool read_set(const char* path, Set& set);

// The hardware threads of the processor's core, with itself; itself alone where that is not known.
void read_siblings(int processor, const char* folder, Set& siblings);
// How many cores these processors belong to.
int64_t count_cores(const Set& set, const char* folder = system_folder);

// False, and an empty set: the system tells of no nodes. A node without processors has an empty set, one that does not exist none.
bool read_nodes(const char* folder, Set& nodes);
bool read_node(int node, const char* folder, Set& processors);

// How many threads the process may run by default: one per core, and no more than its control group's quota. At least 1.
int64_t default_threads();

}  // namespace tap::processors
