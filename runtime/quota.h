// How much time of processors the control group of this process may take, in processors: containers and batch systems limit it without
// taking processors away. Needs the C library only, since compiled libraries contain it.
#pragma once

#include <stdint.h>

namespace tap::processors {

// "150000 100000", as in a file `cpu.max`, is 1.5; 0: there is no limit.
double processors_allowed(const char* cpu_max);

// The least limit of the group in this file and of those around it, rounded up to threads; 0: none. `groups` lists the groups of a
// process, `folder` has those of the system: in a container only its own, whatever its name is outside.
int64_t threads_of_quota(const char* groups = "/proc/self/cgroup", const char* folder = "/sys/fs/cgroup");

}  // namespace tap::processors
