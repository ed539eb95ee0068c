#include "compiler/driver/version.h"

#include "backend/llvm/build_id.h"
#include "commit.h"

namespace tap::driver {

std::string version_text() {
  const std::string commit = TAP_COMMIT;
  return "tapc " TAP_VERSION " (language version 1)" + (commit.empty() ? "" : ", commit " + commit) + ", LLVM " +
         backend::llvm_version();
}

}  // namespace tap::driver
