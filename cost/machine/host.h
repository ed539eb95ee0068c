// The resources that this process may use, by its affinity mask and control group; they may be less than the machine
// has.
#pragma once

#include <cstdint>
#include <string>

namespace tap::cost {

std::int64_t usable_threads();
double usable_memory();  // bytes

// The limits in a control group's files, `cpu.max` and `memory.max`: 0 if there is none.
double threads_allowed(const std::string& cpu_max);    // "150000 100000" is 1.5
double memory_allowed(const std::string& memory_max);  // "max" is none

}  // namespace tap::cost
