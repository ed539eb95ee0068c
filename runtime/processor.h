// Whether this processor has what compiled code may use: asked before any of it runs, since it would be killed by a signal.
#pragma once

#include <stddef.h>

namespace tap::processor {

// Whether a library tells of this feature, and asks for it (processor.def).
bool is_known(const char* feature, size_t length);
// Of a known one; of others nothing is said against it.
bool has(const char* feature, size_t length);

}  // namespace tap::processor
