// The resources that this process may use, by its affinity mask and control group; they may be less than the machine
// has.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/processors.h"

namespace tap::cost {

// As many as may run at a time: one per core (runtime/processors.h), or, once the user wants it, one per processor.
std::int64_t usable_threads();
void count_siblings();
std::int64_t threads_on(const processors::Set& set);  // likewise, without limits of time
double usable_memory();                               // bytes

// The limit in a control group's file `memory.max`: 0 if there is none.
double memory_allowed(const std::string& memory_max);  // "max" is none

}  // namespace tap::cost
