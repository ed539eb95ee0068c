// Whether this processor has the features that compiled code uses: checked before any of it runs, since a missing one
// would raise SIGILL.
#pragma once

#include <stddef.h>

namespace tap::processor {

// Whether a library tells of this feature, and requests it (processor.def).
bool is_known(const char* feature, size_t length);
// Of a known one; of others nothing is said against it.
bool has(const char* feature, size_t length);

}  // namespace tap::processor
