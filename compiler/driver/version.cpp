#include "compiler/driver/version.h"

#include "backend/llvm/build_id.h"

namespace tap::driver {

std::string version_text() {
  const std::string at = commit;
  return "tapc " TAP_VERSION " (language version 1)" + (at.empty() ? "" : ", commit " + at) + ", LLVM " +
         backend::llvm_version();
}

}  // namespace tap::driver
