// A folder of entries HASH.kernel: a line that identifies the format, the hash of the object, the object. Entries are
// created by rename, so no incomplete entry is visible; they are read through one descriptor, without following
// links.
#include "backend/llvm/kernel_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/failure.h"
#include "runtime/staged_registry.h"
#include "runtime/temporary_name.h"
#include "runtime/write_file.h"
#include "support/user_folder.h"
#include "support/write_all.h"

namespace tap::backend {
namespace {

constexpr std::size_t most_entry_bytes = 64u << 20;

// A file descriptor with automatic close.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  explicit operator bool() const { return number_ >= 0; }
  int operator*() const { return number_; }

 private:
  int number_;
};

// tapc kernel 1 KEY CONTENT: the number is the version of the file format.
std::string head_of(std::string_view entry, const Digest& key, std::string_view object) {
  return fmt::format("tapc {} 1 {} {}\n", entry, to_hex(key), to_hex(digest_of({object})));
}

bool read_all(int file, std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    ssize_t n = ::read(file, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

// Whether this user owns it, and nobody else may write to it.
bool is_private(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

struct Entry {
  std::string name;
  std::uint64_t bytes;
  timespec used;
};

bool used_before(const Entry& a, const Entry& b) {
  if (a.used.tv_sec != b.used.tv_sec) return a.used.tv_sec < b.used.tv_sec;
  if (a.used.tv_nsec != b.used.tv_nsec) return a.used.tv_nsec < b.used.tv_nsec;
  return a.name < b.name;
}

}  // namespace

struct KernelCache::Impl {
  CacheOptions options;
  Descriptor folder;
  std::mutex warning;
  std::vector<Diagnostic> warnings;
  std::atomic<bool> stored = false, full = false;

  void open();
  std::string suffix() const { return "." + std::string(options.words.entry); }
  std::string file_of(const Digest& key) const { return to_hex(key) + suffix(); }
  std::optional<std::string> load(const Digest& key, const std::string& name, std::string& problem) const;
  int write(const std::string& name, std::string_view head, std::string_view object) const;  // 0, or an errno
  std::vector<Entry> entries() const;
  void trim() const;
  void warn(std::string message, std::string help = {});
};

void KernelCache::Impl::warn(std::string message, std::string help) {
  std::lock_guard guard(warning);
  warnings.push_back(Diagnostic(Code::kernel_cache, Span{}, std::move(message)).help(std::move(help)));
}

// Creates a missing folder for its owner alone. Checks the opened descriptor, not the path.
void KernelCache::Impl::open() {
  std::error_code failed;
  std::filesystem::path path(options.folder);
  std::filesystem::create_directories(path.parent_path(), failed);
  if (::mkdir(options.folder.c_str(), 0700) != 0 && errno != EEXIST && options.chosen)
    return warn(fmt::format("the {} cache {} cannot be created: {}", options.words.entry, tap::quoted(options.folder),
                            system_reason(errno)));
  Descriptor opened(::open(options.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) {
    if (options.chosen)
      warn(fmt::format("the {} cache {} cannot be opened: {}", options.words.entry, tap::quoted(options.folder),
                       system_reason(errno)));
    return;
  }
  struct stat status {};
  if (::fstat(*opened, &status) != 0) return;
  if (!is_private(status)) {
    bool foreign = status.st_uid != ::geteuid();
    return warn(fmt::format("the {} cache {} is not used: {}{}", options.words.entry, tap::quoted(options.folder),
                            foreign ? "it belongs to another user" : "others can write to it, and it contains ",
                            foreign ? "" : options.words.holds),
                foreign ? "choose another with --cache-dir"
                        : "remove the permissions of others, `chmod 700`, or choose another with --cache-dir");
  }
  folder = std::move(opened);
}

// Nothing without a problem: there is no entry.
std::optional<std::string> KernelCache::Impl::load(const Digest& key, const std::string& name,
                                                   std::string& problem) const {
  Descriptor file(::openat(*folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ELOOP) problem = "it is a symbolic link";
    return std::nullopt;  // no entry, or not accessible now: an existing entry may be good
  }
  struct stat status {};
  if (::fstat(*file, &status) != 0 || !S_ISREG(status.st_mode))
    return problem = "it is not a regular file", std::nullopt;
  if (!is_private(status)) return problem = "others can write to it", std::nullopt;
  if (static_cast<std::uint64_t>(status.st_size) > most_entry_bytes) return problem = "it is too large", std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  if (!read_all(*file, bytes)) return std::nullopt;
  auto line = bytes.find('\n');
  std::string object = line == bytes.npos ? "" : bytes.substr(line + 1);
  if (line == bytes.npos || std::string_view(bytes).substr(0, line + 1) != head_of(options.words.entry, key, object))
    return problem = "its content was changed", std::nullopt;
  ::futimens(*file, nullptr);  // time of last use
  return object;
}

int KernelCache::Impl::write(const std::string& name, std::string_view head, std::string_view object) const {
  std::string temporary = temporary_name();
  // By path, since the signal handler that removes it cannot use descriptors.
  StagedPath* registration = register_staged(options.folder + "/" + temporary);
  Descriptor file(
      ::openat(*folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  bool done = file && write_all(*file, head) == 0 && write_all(*file, object) == 0 &&
              ::renameat(*folder, temporary.c_str(), *folder, name.c_str()) == 0;
  int why = done ? 0 : errno;
  if (file && !done) ::unlinkat(*folder, temporary.c_str(), 0);
  unregister_staged(registration);
  return why;
}

std::vector<Entry> KernelCache::Impl::entries() const {
  std::vector<Entry> found;
  DIR* listing = ::fdopendir(::openat(*folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listing) return found;
  while (const dirent* entry = ::readdir(listing)) {
    std::string name = entry->d_name;
    struct stat status {};
    if (!name.ends_with(suffix()) || ::fstatat(*folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    found.push_back({std::move(name), static_cast<std::uint64_t>(status.st_size), status.st_mtim});
  }
  ::closedir(listing);
  return found;
}

// Down to nine tenths of the limit, so that not every new entry causes it. Another process may do the same.
void KernelCache::Impl::trim() const {
  remove_leftovers(options.folder);
  std::vector<Entry> all = entries();
  std::uint64_t bytes = 0;
  for (const Entry& entry : all) bytes += entry.bytes;
  if (bytes <= options.most_bytes) return;
  std::sort(all.begin(), all.end(), used_before);
  for (const Entry& entry : all) {
    if (bytes <= options.most_bytes / 10 * 9) break;
    ::unlinkat(*folder, entry.name.c_str(), 0);
    bytes -= entry.bytes;
  }
}

std::string default_cache_folder(std::string_view of) {
  const std::string folder = user_folder("XDG_CACHE_HOME", ".cache");
  return folder.empty() ? "" : fmt::format("{}/{}", folder, of);
}

KernelCache::KernelCache(const CacheOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  if (!options.folder.empty()) impl_->open();
}

KernelCache::~KernelCache() {
  try {
    if (impl_->folder && impl_->stored) impl_->trim();
  } catch (const std::bad_alloc&) {}  // the next run trims
}

std::optional<std::string> KernelCache::find(const Digest& key) {
  if (!impl_->folder) return std::nullopt;
  std::string name = impl_->file_of(key), problem;
  auto object = impl_->load(key, name, problem);
  if (problem.empty()) return object;
  ::unlinkat(*impl_->folder, name.c_str(), 0);
  const CacheWords& words = impl_->options.words;
  impl_->warn(fmt::format("{} was removed from the {} cache: {}; the {} is {} again",
                          tap::quoted(impl_->options.folder + "/" + name), words.entry, problem, words.entry,
                          words.made));
  return std::nullopt;
}

void KernelCache::store(const Digest& key, std::string_view object) {
  if (!impl_->folder || impl_->full || object.size() > most_entry_bytes) return;
  int why = impl_->write(impl_->file_of(key), head_of(impl_->options.words.entry, key, object), object);
  if (why == 0) {
    impl_->stored = true;
  } else if (!impl_->full.exchange(true)) {
    impl_->warn(fmt::format("the {0} cache {1} cannot be written: {2}; {0}s of this run are not kept",
                            impl_->options.words.entry, tap::quoted(impl_->options.folder), system_reason(why)));
  }
}

std::vector<Diagnostic> KernelCache::take_warnings() {
  std::lock_guard guard(impl_->warning);
  return std::exchange(impl_->warnings, {});
}

}  // namespace tap::backend
