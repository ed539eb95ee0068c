// Runs a function in a process of its own that shares our memory, as posix_spawn does between fork and exec. It ends what it began
// whatever happens to us: no signal to us, or to our group, reaches it, not even SIGKILL.
//
//   run_apart([&] { rename all files });       a killed process leaves all renamed, or none
#pragma once

#include <functional>

namespace tap {

// Rethrows what the function throws. Returns whether it ended by itself: not if someone killed its process. The calling thread
// waits. Where the system has no such processes, the function runs here.
bool run_apart(const std::function<void()>& work);

}  // namespace tap
