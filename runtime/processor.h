// Whether this processor has the features that compiled code uses: checked before any of it runs, since a missing one
// would raise SIGILL.
#pragma once

#include <stddef.h>

namespace tap::processor {

// Whether a library may list this feature as required (processor.def).
bool is_known(const char* feature, size_t length);
// For a known feature; true for unknown ones.
bool has(const char* feature, size_t length);

}  // namespace tap::processor
