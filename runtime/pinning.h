// Which processors the threads of a run are pinned to: each to one of its own, so that it keeps its caches and its memory is
// near. Only where the threads of all processes of a run on this machine take all of its processors; else the system chooses
// better, as it knows what else runs. A launcher that gave this process some of the processors has decided already.
#pragma once

#include <cstdint>

namespace tap {

// Among the processes of a run on this machine.
struct RunPlace {
  std::int64_t position = 0, processes = 1;
};

// The position of the first thread's processor among those that this process may use; the others follow. -1: not pinned.
std::int64_t first_pinned(std::int64_t threads, const RunPlace& place);
// The same where it may use `allowed` of the machine's processors.
std::int64_t first_pinned(std::int64_t threads, const RunPlace& place, std::int64_t allowed, std::int64_t all);

}  // namespace tap
