#include "support/check.h"

namespace tap {

void internal_error(const char* file, int line, const std::string& what) {
  // Only the file name: paths of the build machine must not appear in messages.
  std::string_view path = file;
  if (auto slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  throw InternalError(what + " (" + std::string(path) + ":" + std::to_string(line) + ")");
}

}  // namespace tap
