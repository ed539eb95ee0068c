#include "support/check.h"

namespace tap {

void internal_error(const char* file, int line, const std::string& what) {
  // Only the file's own name: the paths of a build machine do not belong in a message.
  std::string_view path = file;
  if (auto slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  throw InternalError(what + " (" + std::string(path) + ":" + std::to_string(line) + ")");
}

}  // namespace tap
