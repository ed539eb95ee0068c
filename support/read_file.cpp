#include "support/read_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tap {
namespace {

class OpenFile {
 public:
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "not a kind of file that can be read";
}

}  // namespace

std::variant<std::string, FileRefusal> read_regular_file(const std::string& path, std::uint64_t most_bytes) {
  using Why = FileRefusal::Why;
  OpenFile file(path);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return FileRefusal{Why::system, errno, {}};
  if (!S_ISREG(status.st_mode)) return FileRefusal{Why::not_regular, 0, kind_of(status.st_mode)};
  if (static_cast<std::uint64_t>(status.st_size) > most_bytes) return FileRefusal{Why::too_large, 0, {}};

  std::string text;
  text.reserve(static_cast<std::size_t>(status.st_size) + 1);
  char buffer[1 << 16];
  while (true) {  // up to the end, not to st_size: the file may grow meanwhile, and /proc files have size 0
    ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileRefusal{Why::system, errno, {}};
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > most_bytes) return FileRefusal{Why::too_large, 0, {}};
  }
}

}  // namespace tap
