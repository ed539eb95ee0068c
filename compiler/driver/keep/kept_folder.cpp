#include "compiler/driver/keep/kept_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/failure.h"
#include "runtime/staged_registry.h"
#include "runtime/temporary_name.h"
#include "runtime/write_file.h"
#include "support/write_all.h"

namespace tap::driver {

using backend::ContentDigest, backend::Digest, backend::to_hex;

namespace {

constexpr std::string_view ending = ".shard";
constexpr std::size_t most_at_once = std::size_t{1} << 20;  // bytes

// The same length for all: the hash of the cells is known only when they are written.
std::string head_of(const Digest& name, const Digest& content) {
  return fmt::format("tapc shard 1 {} {}\n", to_hex(name), to_hex(content));
}
const std::size_t head_bytes = head_of({}, {}).size();

class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return number_ >= 0; }
  int operator*() const { return number_; }

 private:
  int number_;
};

bool is_private(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::uint64_t bytes_of(const std::vector<KeptPart>& parts) {
  std::uint64_t bytes = 0;
  for (const KeptPart& one : parts)
    bytes += static_cast<std::uint64_t>(element_count(one.part.shape)) * one.element_bytes;
  return bytes;
}

// Calls `each` for the bytes of the parts, in order, until it returns false.
void for_each_run_of(const std::vector<KeptPart>& parts, const std::function<bool(std::span<std::byte>)>& each) {
  bool more = true;
  for (const KeptPart& one : parts)
    for_each_run(one.shape, one.part, [&](const Run& run) {
      more = more && each({one.tensor + static_cast<std::size_t>(run.in_whole) * one.element_bytes,
                           static_cast<std::size_t>(run.count) * one.element_bytes});
    });
}

// Of `file`, all bytes, in pieces that need not be those of the cells.
bool read_exactly(int file, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::read(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

// Reads `bytes` from here on; each piece goes to `each`.
bool read_pieces(int file, std::uint64_t bytes, const std::function<void(std::span<const std::byte>)>& each) {
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, most_at_once)));
  while (bytes > 0) {
    const std::span<std::byte> now(piece.data(),
                                   static_cast<std::size_t>(std::min<std::uint64_t>(bytes, piece.size())));
    if (!read_exactly(file, now)) return false;
    each(now);
    bytes -= now.size();
  }
  return true;
}

// What a sound file says of its cells; otherwise `problem` says what is wrong.
bool is_sound(int file, const Digest& name, std::uint64_t bytes, std::string& problem) {
  auto wrong = [&](const char* what) {
    problem = what;
    return false;
  };
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return wrong("it is not a regular file");
  if (!is_private(status)) return wrong("others can write to it");
  std::string head(head_bytes, '\0');
  if (static_cast<std::uint64_t>(status.st_size) != head_bytes + bytes ||
      !read_exactly(file, std::as_writable_bytes(std::span(head))))
    return wrong("it is truncated, or of another size");
  ContentDigest content;
  if (!read_pieces(file, bytes, [&](std::span<const std::byte> piece) { content.add(piece); }))
    return wrong("it cannot be read");
  if (head == head_of(name, content.digest())) return true;
  return wrong(head.starts_with(head_of(name, {}).substr(0, head_bytes - 65)) ? "its content was changed"
                                                                              : "it is the result of another run");
}

// Gathers small pieces, which cells often are, into larger writes.
class Writer {
 public:
  explicit Writer(int file) : file_(file) { pending_.reserve(most_at_once); }
  bool add(std::span<const std::byte> bytes) {
    content_.add(bytes);
    if (pending_.size() + bytes.size() > most_at_once && !flush()) return false;
    if (bytes.size() >= most_at_once) return write(bytes);
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    return true;
  }
  bool flush() {
    const bool good = write(pending_);
    pending_.clear();
    return good;
  }
  Digest content() const { return content_.digest(); }
  int error() const { return error_; }

 private:
  bool write(std::span<const std::byte> bytes) {
    error_ = write_all(file_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return error_ == 0;
  }

  int file_, error_ = 0;
  std::vector<std::byte> pending_;
  ContentDigest content_;
};

int write_file(int file, const Digest& name, const std::vector<KeptPart>& parts) {
  if (const int error = write_all(file, head_of(name, {})); error != 0) return error;
  Writer writer(file);
  for_each_run_of(parts, [&](std::span<std::byte> run) { return writer.add(run); });
  if (writer.error() == 0) writer.flush();
  if (writer.error() != 0) return writer.error();
  if (::lseek(file, 0, SEEK_SET) != 0) return errno;
  return write_all(file, head_of(name, writer.content()));
}

Failure unusable(const std::string& path, const std::string& why, std::string help = {}) {
  return resource_failure(Code::cannot_write, fmt::format("results cannot be kept in {}: {}", tap::quoted(path), why),
                          std::move(help));
}

}  // namespace

KeptFolder::KeptFolder(std::string path) : path_(std::move(path)) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), failed);
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) throw unusable(path_, system_reason(errno));
  folder_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) throw unusable(path_, system_reason(errno));
  struct stat status {};
  const bool known = ::fstat(folder_, &status) == 0;
  if (known && is_private(status)) {
    remove_leftovers(path_);
    return;
  }
  ::close(folder_);
  if (!known) throw unusable(path_, system_reason(errno));
  if (status.st_uid != ::geteuid()) throw unusable(path_, "it belongs to another user", "choose another folder");
  throw unusable(path_, "others can write to it",
                 "remove the permissions of others, `chmod 700`, or choose another folder");
}

KeptFolder::~KeptFolder() { ::close(folder_); }

std::string KeptFolder::file_of(const Digest& name) const {
  return fmt::format("{}/{}{}", path_, to_hex(name), ending);
}

namespace {

// Without following links. Negative without a problem: there is no file.
int open_kept(int folder, const Digest& name, std::string& problem) {
  const int file =
      ::openat(folder, (to_hex(name) + std::string(ending)).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file >= 0 || errno == ENOENT) return file;
  problem = errno == ELOOP ? "it is a symbolic link" : system_reason(errno);
  return -1;
}

}  // namespace

bool KeptFolder::has(const Digest& name, const std::vector<KeptPart>& parts, std::string& problem) const {
  const File file(open_kept(folder_, name, problem));
  return file && is_sound(*file, name, bytes_of(parts), problem);
}

bool KeptFolder::restore(const Digest& name, const std::vector<KeptPart>& parts, std::string& problem) const {
  const File file(open_kept(folder_, name, problem));
  if (!file || !is_sound(*file, name, bytes_of(parts), problem)) return false;
  // Cells may be computed in the memory of operands, so it is not touched before.
  auto changed = [&] {
    return resource_failure(Code::kept_result, tap::quoted(file_of(name)) + " was changed while it was read");
  };
  std::string head(head_bytes, '\0');
  if (::lseek(*file, 0, SEEK_SET) != 0 || !read_exactly(*file, std::as_writable_bytes(std::span(head))))
    throw changed();
  std::vector<std::byte> piece;
  std::span<const std::byte> rest;
  std::uint64_t left = bytes_of(parts);
  ContentDigest content;
  for_each_run_of(parts, [&](std::span<std::byte> run) {
    while (!run.empty()) {
      if (rest.empty()) {
        piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, most_at_once)));
        if (!read_exactly(*file, piece)) throw changed();
        left -= piece.size();
        content.add(piece);
        rest = piece;
      }
      const std::size_t now = std::min(run.size(), rest.size());
      std::copy_n(rest.begin(), now, run.begin());
      run = run.subspan(now);
      rest = rest.subspan(now);
    }
    return true;
  });
  if (head != head_of(name, content.digest())) throw changed();
  return true;
}

int KeptFolder::store(const Digest& name, const std::vector<KeptPart>& parts) const {
  const std::string temporary = temporary_name(), final = to_hex(name) + std::string(ending);
  // By path, since the signal handler that removes it cannot use descriptors.
  StagedPath* registration = register_staged(path_ + "/" + temporary);
  int error = 0;
  {
    const File file(
        ::openat(folder_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    error = file ? write_file(*file, name, parts) : errno;
    if (error == 0 && ::renameat(folder_, temporary.c_str(), folder_, final.c_str()) != 0) error = errno;
    if (file && error != 0) ::unlinkat(folder_, temporary.c_str(), 0);
  }
  unregister_staged(registration);
  return error;
}

bool KeptFolder::is_empty() const {
  DIR* listing = ::fdopendir(::openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listing) return true;
  bool found = false;
  while (const dirent* entry = ::readdir(listing)) found = found || std::string_view(entry->d_name).ends_with(ending);
  ::closedir(listing);
  return !found;
}

}  // namespace tap::driver
