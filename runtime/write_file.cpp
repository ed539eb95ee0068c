#include "runtime/write_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runtime/failure.h"
#include "runtime/output_journal.h"
#include "runtime/run_apart.h"
#include "runtime/staged_registry.h"
#include "runtime/temporary_name.h"
#include "support/write_all.h"

namespace tap {
namespace {

Failure cannot_write(const std::string& path, const std::string& why) {
  return resource_failure(Code::cannot_write, quoted(path) + " cannot be written: " + why);
}
Failure cannot_write(const std::string& path, int error) { return cannot_write(path, system_reason(error)); }

std::string folder_of(const std::string& path) {
  auto slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Checks before anything is written: a file must not replace a device or folder. Returns the mode of an earlier file.
std::optional<mode_t> mode_for(const std::string& path) {
  if (path.empty() || path.back() == '/') throw cannot_write(path, "the file name is missing");
  struct stat itself {
  }, target{};
  if (lstat(path.c_str(), &itself) != 0) {
    if (errno == ENOENT) return std::nullopt;
    throw cannot_write(path, errno);
  }
  if (stat(path.c_str(), &target) != 0) return std::nullopt;  // a dangling link; it is replaced
  if (S_ISDIR(target.st_mode)) throw cannot_write(path, "it is a folder");
  if (!S_ISREG(target.st_mode)) throw cannot_write(path, "it is a device, pipe or socket; expected a regular file");
  return S_ISREG(itself.st_mode) ? std::optional<mode_t>(itself.st_mode & 07777) : std::nullopt;
}

void write_content(int fd, const OutputFile& file, std::optional<mode_t> mode) {
  const std::string& path = file.path;
  try {
    for (const auto& piece : file.content)
      if (int error = write_all(fd, bytes_of(piece))) throw cannot_write(path, error);
    if (file.bytes > 0 && ftruncate(fd, static_cast<off_t>(file.bytes)) != 0) throw cannot_write(path, errno);
    if (mode && fchmod(fd, *mode) != 0) throw cannot_write(path, errno);
    if (fsync(fd) != 0 && errno != EINVAL) throw cannot_write(path, errno);  // EINVAL: a file system without sync
  } catch (...) {
    close(fd);
    throw;
  }
  if (close(fd) != 0) throw cannot_write(path, errno);  // some file systems report a failed write only now
}

void sync_folder(const std::string& folder) {
  int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder that may be written but not read: its entries are safe after the next sync
  fsync(fd);
  close(fd);
}

// Of two outputs with one name, the last would silently replace the first. A folder may have several names.
void require_distinct(const std::vector<OutputFile>& files) {
  std::map<std::pair<std::string, std::string>, const OutputFile*> names;
  for (const OutputFile& file : files) {
    std::string folder = folder_of(file.path), name = file.path.substr(file.path.rfind('/') + 1);
    struct stat status {};
    if (stat(folder.c_str(), &status) == 0)
      folder = std::to_string(status.st_dev) + " " + std::to_string(status.st_ino);
    auto [other, fresh] = names.emplace(std::pair(folder, name), &file);
    if (!fresh)
      throw wrong_command(Code::output_spec,
                          quoted(file.path) + " is the name of two outputs" +
                              (other->second->path == file.path ? "" : ", once as " + quoted(other->second->path)));
  }
}

bool exists(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

}  // namespace

StagedFile::StagedFile(const OutputFile& file) : path_(file.path) {
  std::optional<mode_t> mode = mode_for(path_);
  if (mode && file.executable) *mode |= (*mode & 0444) >> 2;
  std::string folder = folder_of(path_);
  int fd = -1;
  do {  // a leftover of an earlier process with our id may have the name: use the next
    if (registration_ != nullptr) unregister_staged(registration_);
    temporary_ = folder + "/" + temporary_name();
    registration_ = register_staged(temporary_);
    fd = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file.executable ? 0777 : 0666);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0) {
    int error = errno;
    unregister_staged(registration_);
    throw cannot_write(path_, error);
  }
  try {
    write_content(fd, file, mode);
  } catch (...) {
    unlink(temporary_.c_str());
    unregister_staged(registration_);
    throw;
  }
}

StagedFile StagedFile::of(HandedFile handed) {
  StagedFile file;
  file.path_ = std::move(handed.path);
  file.temporary_ = std::move(handed.temporary);
  file.registration_ = register_staged(file.temporary_);
  return file;
}

void StagedFile::leave() {
  if (registration_ != nullptr) unregister_staged(std::exchange(registration_, nullptr));
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      earlier_(std::move(other.earlier_)),
      registration_(std::exchange(other.registration_, nullptr)),
      link_registration_(std::exchange(other.link_registration_, nullptr)) {}

StagedFile::~StagedFile() {
  if (link_registration_ != nullptr) {
    unlink(earlier_.c_str());
    unregister_staged(link_registration_);
  }
  if (registration_ == nullptr) return;
  unlink(temporary_.c_str());  // staged but not published, or replaced by publish(); else it does not exist
  unregister_staged(registration_);
}

// Exchanges the temporary and the final name, so the earlier file stays until it is no longer needed.
bool StagedFile::exchange() {
  if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    earlier_ = temporary_;
    return true;
  }
  if (errno != EINVAL && errno != ENOSYS) throw cannot_write(path_, errno);
  return false;
}

// For file systems that cannot exchange (NFS): a second name for the earlier file.
void StagedFile::keep_link() {
  earlier_ = folder_of(path_) + "/" + temporary_name();
  link_registration_ = register_staged(earlier_);
  if (link(path_.c_str(), earlier_.c_str()) != 0) throw cannot_write(path_, errno);
}

void StagedFile::publish() {
  mode_for(path_);  // again: otherwise a folder that has appeared since would be exchanged
  if (exists(path_)) {
    if (exchange()) return;
    keep_link();
  }
  if (rename(temporary_.c_str(), path_.c_str()) != 0) throw cannot_write(path_, errno);
}

void StagedFile::undo() noexcept {
  if (earlier_.empty()) {
    unlink(path_.c_str());
  } else {
    rename(earlier_.c_str(), path_.c_str());
  }
}

namespace {

std::set<std::string> folders_of(const std::vector<OutputFile>& files) {
  std::set<std::string> folders;
  for (const OutputFile& file : files) folders.insert(folder_of(file.path));
  return folders;
}

std::vector<StagedFile> stage(const std::vector<OutputFile>& files) {
  require_distinct(files);
  for (const std::string& folder : folders_of(files)) remove_leftovers(folder);
  std::vector<StagedFile> staged;
  staged.reserve(files.size());
  for (const OutputFile& file : files) staged.emplace_back(file);
  return staged;
}

std::vector<std::string> temporaries_of(const std::vector<StagedFile>& staged) {
  std::vector<std::string> temporaries;
  for (const StagedFile& file : staged) temporaries.push_back(file.temporary());
  return temporaries;
}

// All, or none and throws.
void publish_all(std::vector<StagedFile>& staged, OutputJournal* journal) {
  std::size_t done = 0;
  try {
    for (; done < staged.size(); ++done) staged[done].publish();
  } catch (...) {
    if (journal) journal->turn_back();
    while (done-- > 0) staged[done].undo();
    throw;
  }
}

std::vector<JournalEntry> entries_of(const std::vector<StagedFile>& staged) {
  std::vector<JournalEntry> entries;
  for (const StagedFile& file : staged) {
    JournalEntry entry{absolute_path(file.temporary()), absolute_path(file.path()), "", ""};
    entry.fresh = file_identity(entry.temporary);
    entry.earlier = file_identity(entry.path);
    entries.push_back(std::move(entry));
  }
  return entries;
}

void publish_set(std::vector<StagedFile>& staged) {
  CommitSection undivided;
  std::set<std::string> folders;
  for (const StagedFile& file : staged) folders.insert(folder_of(file.path()));
  if (staged.size() == 1) {  // one rename is always whole
    publish_all(staged, nullptr);
  } else if (!staged.empty()) {
    OutputJournal journal(entries_of(staged));
    for (const std::string& folder : folders) sync_folder(folder);
    const bool is_over = run_apart([&] {
      publish_all(staged, &journal);
      for (const std::string& folder : folders) sync_folder(folder);
      staged.clear();
      journal.remove();
    });
    if (is_over) return;
    journal.finish();
  }
  for (const std::string& folder : folders) sync_folder(folder);
  staged.clear();
}

}  // namespace

void write_files(const std::vector<OutputFile>& files, const FillFiles& fill) {
  std::vector<StagedFile> staged = stage(files);
  if (fill) {
    std::vector<HandedFile> handed = fill(temporaries_of(staged));
    staged.reserve(staged.size() + handed.size());
    for (HandedFile& file : handed) staged.push_back(StagedFile::of(std::move(file)));
  }
  publish_set(staged);
}

void hand_files(const std::vector<OutputFile>& files,
                const std::function<bool(const std::vector<std::string>& temporaries)>& hand) {
  std::vector<StagedFile> staged = stage(files);
  if (!hand(temporaries_of(staged))) return publish_set(staged);
  for (StagedFile& file : staged) file.leave();
}

int remove_leftovers(const std::string& folder) {
  if (!finish_journals(folder)) return 0;  // their temporaries are still needed
  DIR* listing = opendir(folder.c_str());
  if (listing == nullptr) return 0;
  int removed = 0;
  while (const dirent* entry = readdir(listing)) {
    const auto owner = owner_of_temporary(entry->d_name);
    if (!owner || !is_over(*owner)) continue;
    if (unlinkat(dirfd(listing), entry->d_name, 0) == 0) ++removed;
  }
  closedir(listing);
  return removed;
}

}  // namespace tap
