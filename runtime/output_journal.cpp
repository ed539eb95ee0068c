#include "runtime/output_journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "runtime/failure.h"
#include "runtime/temporary_name.h"
#include "support/write_all.h"

namespace tap {
namespace {

// The text: strings that end with a null character. The direction is the second one, so that it can be overwritten.
constexpr std::string_view title = "tapc-journal 1", ending = "end";
constexpr std::string_view forward = "f", back = "b";
constexpr off_t direction_at = static_cast<off_t>(title.size()) + 1;
constexpr std::string_view suffix = ".journal";

std::string folder_of_file(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string text_of(const std::vector<JournalEntry>& entries) {
  std::string text;
  auto add = [&](std::string_view one) { (text += one) += '\0'; };
  add(title);
  add(forward);
  for (const JournalEntry& entry : entries)
    for (const std::string* one : {&entry.temporary, &entry.path, &entry.fresh, &entry.earlier}) add(*one);
  add(ending);
  return text;
}

struct Found {
  bool is_forward = true;
  std::vector<JournalEntry> entries;
};
// None: it was not written completely, so that nothing was renamed.
std::optional<Found> read_text(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find('\0');
    if (end == text.npos) return std::nullopt;
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  if (parts.size() < 3 || parts.size() % 4 != 3 || parts[0] != title || parts.back() != ending) return std::nullopt;
  Found found{parts[1] == forward, {}};
  for (std::size_t k = 2; k + 4 < parts.size(); k += 4)
    found.entries.push_back({parts[k], parts[k + 1], parts[k + 2], parts[k + 3]});
  return found;
}

// Whether nobody else has written to the files since.
bool is_untouched(const std::vector<JournalEntry>& entries) {
  return std::all_of(entries.begin(), entries.end(), [](const JournalEntry& entry) {
    const std::string now = file_identity(entry.path);
    return now == entry.earlier || now == entry.fresh;
  });
}

void complete(const std::vector<JournalEntry>& entries) {
  for (const JournalEntry& entry : entries)
    if (file_identity(entry.temporary) == entry.fresh) ::rename(entry.temporary.c_str(), entry.path.c_str());
}

// An earlier file was exchanged with the temporary.
void restore(const std::vector<JournalEntry>& entries) {
  for (const JournalEntry& entry : entries) {
    if (file_identity(entry.path) != entry.fresh) continue;
    if (entry.earlier.empty()) ::unlink(entry.path.c_str());
    else if (file_identity(entry.temporary) == entry.earlier) ::rename(entry.temporary.c_str(), entry.path.c_str());
  }
}

std::string content_of(int file) {
  std::string text;
  char part[4096];
  ssize_t count = 0;
  while ((count = ::read(file, part, sizeof part)) > 0 || (count < 0 && errno == EINTR))
    if (count > 0) text.append(part, static_cast<std::size_t>(count));
  return text;
}

// A file that others may write could name any file of ours.
bool is_ours(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & 022) == 0;
}

bool locks(int file) {
  constexpr int tries = 40;
  for (int t = 0; t < tries; ++t) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return false;
    ::usleep(50'000);
  }
  return false;
}

// False: its process is still at it.
bool finish_journal(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return true;
  bool over = true;
  if (is_ours(file)) {
    over = locks(file);
    const std::optional<Found> found = over ? read_text(content_of(file)) : std::nullopt;
    if (found && !found->is_forward) restore(found->entries);
    else if (found && is_untouched(found->entries)) complete(found->entries);
    if (found)
      for (const JournalEntry& entry : found->entries) ::unlink(entry.temporary.c_str());
    if (over) ::unlink(path.c_str());
  }
  ::close(file);
  return over;
}

}  // namespace

std::string file_identity(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return "";
  return std::to_string(status.st_dev) + " " + std::to_string(status.st_ino);
}

std::string absolute_path(const std::string& path) {
  char folder[PATH_MAX];
  if (!::realpath(folder_of_file(path).c_str(), folder)) return path;
  return (std::string_view(folder) == "/" ? "" : folder) + ("/" + path.substr(path.rfind('/') + 1));
}

OutputJournal::OutputJournal(std::vector<JournalEntry> entries) : entries_(std::move(entries)) {
  std::set<std::string> folders;
  for (const JournalEntry& entry : entries_) folders.insert(folder_of_file(entry.path));
  const std::string text = text_of(entries_);
  try {
    for (const std::string& folder : folders) write(folder, text);
  } catch (...) {
    for (const Copy& copy : copies_) {
      ::unlink(copy.path.c_str());
      ::close(copy.file);
    }
    throw;
  }
}

// Locked before it has its name.
void OutputJournal::write(const std::string& folder, const std::string& text) {
  std::string name = temporary_name();
  const std::string temporary = folder + "/" + name;
  const std::string path = folder + "/" + name.substr(0, name.rfind('.')) + std::string(suffix);
  const int file = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  int error = file < 0 ? errno : 0;
  if (error == 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno != ENOLCK && errno != EOPNOTSUPP) error = errno;
  if (error == 0) error = write_all(file, text);
  if (error == 0 && ::fsync(file) != 0 && errno != EINVAL) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) {
    copies_.push_back({path, file});
    return;
  }
  if (file >= 0) {
    ::unlink(temporary.c_str());
    ::close(file);
  }
  throw resource_failure(Code::cannot_write, quoted(path) + " cannot be written: " + system_reason(error));
}

void OutputJournal::remove() {
  for (Copy& copy : copies_)
    if (!copy.path.empty()) ::unlink(copy.path.c_str());
  for (Copy& copy : copies_) copy.path.clear();
}

OutputJournal::~OutputJournal() {
  remove();
  for (const Copy& copy : copies_) ::close(copy.file);
}

void OutputJournal::turn_back() {
  for (const Copy& copy : copies_) {
    if (::pwrite(copy.file, back.data(), back.size(), direction_at) < 0) continue;
    ::fsync(copy.file);
  }
}

void OutputJournal::finish() const { complete(entries_); }

bool finish_journals(const std::string& folder) {
  std::vector<std::string> names;
  DIR* listing = ::opendir(folder.c_str());
  if (listing == nullptr) return true;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (!name.ends_with(suffix)) continue;
    const std::string temporary = std::string(name.substr(0, name.size() - suffix.size())) + ".tmp";
    if (owner_of_temporary(temporary)) names.push_back(folder + "/" + std::string(name));
  }
  ::closedir(listing);
  std::sort(names.begin(), names.end());
  bool all_over = true;
  for (const std::string& name : names) all_over &= finish_journal(name);
  return all_over;
}

}  // namespace tap
