// Which build of tapc, and of LLVM, this is: what the linker wrote into the files that are loaded. Code that one build made
// is not taken for that of another.
#pragma once

#include <string>

namespace tap::backend {

std::string build_id();  // empty if a file has none

}  // namespace tap::backend
