// The object that every compiled library carries (runtime/embedded/), as bytes; cmake/embed_runtime.cmake makes it.
#pragma once

#include <string_view>

namespace tap::embedded {
extern const std::string_view runtime_object;
}
