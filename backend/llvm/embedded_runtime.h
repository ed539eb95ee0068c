// The runtime objects as bytes: the one linked into every compiled library (runtime/embedded/) and the one linked
// into standalone programs. cmake/embed_runtime.cmake generates them.
#pragma once

#include <string_view>

namespace tap::embedded {
extern const std::string_view runtime_object;
extern const std::string_view standalone_object;
}  // namespace tap::embedded
