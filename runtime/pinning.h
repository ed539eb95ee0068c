// Which processors the threads of a run are pinned to: each to one of its own, so that it keeps its caches and its memory is
// near. Only where the threads of all processes of a run on this machine take all of its cores, or all of its processors; else the
// system chooses better, as it knows what else runs. A launcher that gave this process some of the processors has decided already.
//
//   2 nodes of 2 cores, processors n and n + 4 are siblings
//   4 threads                  0 1 2 3                   8 threads    0 1 2 3 4 5 6 7
//   2 processes of 2 threads   0 1 and 2 3               of 4         0 1 4 5 and 2 3 6 7
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/processors.h"

namespace tap {

// Among the processes of a run on this machine.
struct RunPlace {
  std::int64_t position = 0, processes = 1;
};

// Processors that a process may use, in the order of their numbers of nodes, cores and siblings.
struct Core {
  int node = 0;
  std::vector<int> siblings;
  bool operator==(const Core&) const = default;
};
std::vector<Core> cores_of(const processors::Set& allowed, const char* folder = processors::system_folder);

// The processor of each thread. Empty: not pinned.
std::vector<std::int32_t> pinned_to(std::int64_t threads, const RunPlace& place, const std::vector<Core>& cores);

// Of this process. `chosen`: the user has named those that it may use, and all processes of the run have the same; else they must be
// all that the machine has.
struct OwnProcessors {
  processors::Set allowed;
  std::int64_t on_machine = 0;
  bool chosen = false;
};
OwnProcessors own_processors(bool chosen);
std::vector<std::int32_t> pinned_to(std::int64_t threads, const RunPlace& place, const OwnProcessors& own,
                                    const char* folder = processors::system_folder);

}  // namespace tap
