// Identifies this build of tapc and LLVM by the build ids that the linker wrote into the loaded files. Cached code
// from another build is never used.
#pragma once

#include <string>

namespace tap::backend {

std::string build_id();  // empty if a file has none
std::string llvm_version();

}  // namespace tap::backend
