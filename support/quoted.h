// Quotes a name for a message: in backquotes, control bytes escaped, long names shortened.
#pragma once

#include <string>
#include <string_view>

namespace tap {

std::string quoted(std::string_view name);
// Without this overload, std::quoted would match strings better if <iomanip> is included.
inline std::string quoted(const std::string& name) { return quoted(std::string_view(name)); }
inline std::string quoted(std::string& name) { return quoted(std::string_view(name)); }
inline std::string quoted(const char* name) { return quoted(std::string_view(name)); }

}  // namespace tap
