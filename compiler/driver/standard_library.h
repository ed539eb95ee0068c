// lib/std.tap, put into tapc when it is built (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace tap::embedded {

extern const std::string_view std_tap;

}  // namespace tap::embedded
