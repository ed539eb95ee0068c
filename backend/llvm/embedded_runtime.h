// The object that every compiled library carries (runtime/embedded/), and the one that a program of its own begins with, as
// bytes; cmake/embed_runtime.cmake makes them.
#pragma once

#include <string_view>

namespace tap::embedded {
extern const std::string_view runtime_object;
extern const std::string_view standalone_object;
}  // namespace tap::embedded
