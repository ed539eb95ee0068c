// What `tapc --version` says, and reproducers: release, commit and LLVM.
#pragma once

#include <string>

namespace tap::driver {

extern const char commit[];  // empty if the sources were no checkout (cmake/commit.cmake)

// tapc 0.1.0 (language version 1), commit 0123456789ab, LLVM 22.1.0; without a commit if the sources were no checkout
std::string version_text();

}  // namespace tap::driver
