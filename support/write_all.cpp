#include "support/write_all.h"

#include <cerrno>

#include <unistd.h>

namespace tap {

int write_all(int file_descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file_descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace tap
