// Folders for a user's own files, by the XDG base directory specification.
//
//   user_folder("XDG_CACHE_HOME", ".cache")      $XDG_CACHE_HOME/tapc, or $HOME/.cache/tapc
#pragma once

#include <string>

namespace tap {

// Empty if neither variable is an absolute path.
std::string user_folder(const char* variable, const char* in_home);

}  // namespace tap
