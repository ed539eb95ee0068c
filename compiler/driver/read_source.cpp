#include "compiler/driver/read_source.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/driver/reproducer.h"
#include "support/phase.h"

namespace tap::driver {
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
  return "not a regular file";
}

[[noreturn]] void fail(int exit_code, Code code, std::string message, std::string help = "") {
  throw Failure{exit_code, Diagnostic(code, Span{}, std::move(message)).help(std::move(help))};
}

[[noreturn]] void fail_reading(const std::string& path, int error) {
  bool wrong_name = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP;
  fail(wrong_name ? exit_code::wrong_command_line : exit_code::resource, Code::source_unreadable,
       fmt::format("`{}` cannot be read: {}", path, std::strerror(error)));
}

[[noreturn]] void fail_too_large(const std::string& path) {
  fail(exit_code::wrong_program, Code::file_too_large,
       fmt::format("`{}` is larger than {} MiB, the most that a source file may have", path, max_source_bytes >> 20));
}

}  // namespace

FileId read_source(Session& session, const std::string& path) {
  Phase phase("reading the source");
  if (path.find('\0') != path.npos)
    fail(exit_code::wrong_command_line, Code::source_unreadable, "a file name holds a zero byte");
  OpenFile file(path);
  if (file.get() < 0) fail_reading(path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_reading(path, errno);
  if (!S_ISREG(status.st_mode))
    fail(exit_code::wrong_command_line, Code::source_not_a_file,
         fmt::format("`{}` is {}; a source is a regular file", path, kind_of(status.st_mode)));
  if (static_cast<std::uint64_t>(status.st_size) > max_source_bytes) fail_too_large(path);

  std::string text;
  text.reserve(static_cast<std::size_t>(status.st_size) + 1);
  char buffer[1 << 16];
  while (true) {  // to the end, not to st_size: the file may grow meanwhile, and /proc files have size 0
    ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_reading(path, errno);
    if (count == 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > max_source_bytes) fail_too_large(path);
  }
  remember_for_reproducer(path, text);
  return session.sources.add(path, std::move(text));
}

}  // namespace tap::driver
