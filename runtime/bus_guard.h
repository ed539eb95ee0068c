// The table of mappings for the SIGBUS handler (see mapped_file.h). Registering and releasing are thread-safe; the
// handler takes no lock and allocates nothing. A bus error outside these mappings is passed to the handler that was
// installed before, so that the driver still reports an internal error.
#pragma once

#include <cstddef>

namespace tap {

// Installs the handler on first use. Null if the table is full: then the file should be read instead of mapped.
struct GuardedRange;
GuardedRange* guard_range(const void* begin, std::size_t size);
void release_range(GuardedRange* range);
bool has_faulted(const GuardedRange* range);

}  // namespace tap
