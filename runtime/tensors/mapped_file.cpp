#include "runtime/tensors/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/bus_guard.h"
#include "runtime/failure.h"

namespace tap {

Failure cannot_read(const std::string& path, const std::string& why) {
  return resource_failure(Code::cannot_read, quoted(path) + " cannot be read: " + why);
}

namespace {

struct Descriptor {
  int fd = -1;
  explicit Descriptor(int f) : fd(f) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

// A mapping with its place in the handler's table.
struct Mapping {
  void* address = nullptr;
  std::size_t size = 0;
  GuardedRange* guard = nullptr;
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (guard != nullptr) release_range(guard);
    if (address != nullptr) munmap(address, size);
  }
};

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISSOCK(mode)) return "a socket";
  return "not a file";
}

void require_regular(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) {
    throw cannot_read(path, "it is " + kind_of(status.st_mode) + "; expected a regular file");
  }
}

Failure shrank(const std::string& path, std::uint64_t expected, std::uint64_t got) {
  return wrong_data(Code::data_changed, quoted(path) + " changed while it was read: " + plural(expected, "byte") +
                                            " at first, then " + std::to_string(got));
}

SharedBytes read_all(int fd, const std::string& path, std::size_t size) {
  auto memory = aligned_bytes(size);
  std::size_t done = 0;
  while (done < size) {
    ssize_t n = read(fd, memory.get() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw cannot_read(path, system_reason(errno));
    if (n == 0) throw shrank(path, size, done);
    done += static_cast<std::size_t>(n);
  }
  return {std::move(memory), size};
}

// Null if mapping is impossible (the table is full, an unusual file system).
std::shared_ptr<Mapping> map(int fd, std::size_t size) {
  auto mapping = std::make_shared<Mapping>();
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return nullptr;
  mapping->address = address;
  mapping->size = size;
  auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapping->guard = guard_range(address, (size + page - 1) / page * page);
  if (mapping->guard == nullptr) return nullptr;
  return mapping;
}

}  // namespace

struct MappedFile::State {
  std::string path;
  SharedBytes bytes;
  std::shared_ptr<const Mapping> mapping;  // null if the file was read into memory
  dev_t device = 0;
  ino_t inode = 0;
  timespec modified{};
};

int open_regular(const std::string& path) {
  struct stat status {};
  // Checked before opening: opening a device may have side effects.
  if (stat(path.c_str(), &status) != 0) throw cannot_read(path, system_reason(errno));
  require_regular(path, status);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.fd < 0) throw cannot_read(path, system_reason(errno));
  if (fstat(file.fd, &status) != 0) throw cannot_read(path, system_reason(errno));
  require_regular(path, status);
  return std::exchange(file.fd, -1);
}

MappedFile MappedFile::open(const std::string& path, std::uint64_t map_from) {
  Descriptor file(open_regular(path));
  struct stat status {};
  if (fstat(file.fd, &status) != 0) throw cannot_read(path, system_reason(errno));

  auto state = std::make_shared<State>();
  state->path = path;
  state->device = status.st_dev;
  state->inode = status.st_ino;
  state->modified = status.st_mtim;
  auto size = static_cast<std::size_t>(status.st_size);
  std::shared_ptr<Mapping> mapping;
  if (size > 0 && size >= map_from) mapping = map(file.fd, size);
  if (mapping != nullptr) {
    state->bytes = {std::shared_ptr<const std::byte>(mapping, static_cast<const std::byte*>(mapping->address)), size};
    state->mapping = std::move(mapping);
  } else {
    state->bytes = read_all(file.fd, path, size);
  }
  return MappedFile(std::move(state));
}

const std::string& MappedFile::path() const { return state_->path; }
const SharedBytes& MappedFile::bytes() const { return state_->bytes; }
bool MappedFile::is_mapped() const { return state_->mapping != nullptr; }

bool MappedFile::intact() const {
  if (state_->mapping == nullptr) return true;
  if (has_faulted(state_->mapping->guard)) return false;
  struct stat now {};
  if (stat(state_->path.c_str(), &now) != 0) return true;  // unlinked: the mapping keeps the old bytes
  if (now.st_dev != state_->device || now.st_ino != state_->inode) return true;  // replaced by rename: likewise
  return static_cast<std::size_t>(now.st_size) == state_->bytes.size() &&
         now.st_mtim.tv_sec == state_->modified.tv_sec && now.st_mtim.tv_nsec == state_->modified.tv_nsec;
}

void MappedFile::require_intact() const {
  if (intact()) return;
  throw wrong_data(Code::data_changed, quoted(path()) + " changed while in use; nothing was written",
                   "run again while nothing writes to the file");
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  if (stat(a.c_str(), &first) != 0 || stat(b.c_str(), &second) != 0) return false;
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace tap
