// The table of mappings that the SIGBUS handler consults (see mapped_file.h). Registering and releasing are thread-safe;
// the handler takes no lock and allocates nothing.
#pragma once

#include <cstddef>

namespace tap {

// Installs the handler on first use. Null if the table is full: then the file should be read instead of mapped.
struct GuardedRange;
GuardedRange* guard_range(const void* begin, std::size_t size);
void release_range(GuardedRange* range);
bool was_broken(const GuardedRange* range);

}  // namespace tap
