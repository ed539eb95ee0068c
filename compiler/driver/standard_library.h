// lib/std.tap, embedded in tapc by the build (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace tap::embedded {

extern const std::string_view std_tap;

}  // namespace tap::embedded
