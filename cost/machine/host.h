// What this process may use of the machine that it runs on: by its affinity mask and its control group, which may be less than
// what is there.
#pragma once

#include <cstdint>
#include <string>

namespace tap::cost {

std::int64_t usable_threads();
double usable_memory();  // bytes

// The limits of a control group's files, `cpu.max` and `memory.max`: 0 where there is none.
double threads_allowed(const std::string& cpu_max);    // "150000 100000" is 1.5
double memory_allowed(const std::string& memory_max);  // "max" is none

}  // namespace tap::cost
