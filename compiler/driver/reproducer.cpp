#include "compiler/driver/reproducer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "compiler/driver/version.h"

namespace tap::driver {
namespace {

constexpr std::size_t longest_kept = 16u << 20;  // larger files are truncated

// Plain pointers to strings that are never freed, so that a signal handler always finds valid strings.
const std::string* kept_version = nullptr;
const std::string* kept_arguments = nullptr;
constexpr std::size_t most_files = 4;
const std::string* kept_files[most_files] = {};  // oldest first
const std::string* kept_evidence = nullptr;
const std::string* kept_directory = nullptr;

void put(int file, const char* text, std::size_t size) {
  while (size > 0) {
    ssize_t written = ::write(file, text, size);
    if (written <= 0) return;
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}
void put(int file, const char* text) { put(file, text, std::strlen(text)); }
void put(int file, const std::string* text) {
  if (text) put(file, text->data(), text->size());
}

// DIRECTORY/tapc-reproducer-PID-N.txt. O_EXCL: never overwrites a file or follows a link.
int create(char (&name)[256]) {
  static constexpr char digits[] = "0123456789";
  const char* directory = kept_directory ? kept_directory->c_str() : "/tmp";
  for (char n = 0; n < 10; ++n) {
    char number[24];
    std::size_t length = 0;
    for (auto pid = static_cast<unsigned long>(::getpid()); pid > 0; pid /= 10) number[length++] = digits[pid % 10];
    if (std::strlen(directory) + 50 + length > sizeof name) return -1;
    std::strcpy(name, directory);
    std::strcat(name, "/tapc-reproducer-");
    std::size_t end = std::strlen(name);
    while (length > 0) name[end++] = number[--length];
    name[end++] = '-';
    name[end++] = digits[static_cast<int>(n)];
    std::strcpy(name + end, ".txt");
    int file = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) return file;
  }
  return -1;
}

void keep(const std::string*& slot, std::string text) {
  const std::string* old = slot;
  slot = new std::string(std::move(text));
  delete old;
}

}  // namespace

void remember_for_reproducer(const std::vector<std::string>& arguments) {
  keep(kept_version, version_text() + "\n");
  std::string text = "command:";
  for (const std::string& argument : arguments) text += " '" + argument + "'";
  keep(kept_arguments, text + "\n");
  const char* directory = std::getenv("TMPDIR");
  keep(kept_directory, directory && *directory ? directory : "/tmp");
}

void remember_for_reproducer(const std::string& path, const std::string& text) {
  const std::string* made = new std::string("---- " + path + "\n" + text.substr(0, longest_kept));
  const std::string* oldest = kept_files[most_files - 1] ? kept_files[0] : nullptr;
  if (oldest) std::move(kept_files + 1, kept_files + most_files, kept_files);
  *(oldest ? kept_files + most_files - 1 : std::find(kept_files, kept_files + most_files, nullptr)) = made;
  delete oldest;
}

void remember_evidence_for_reproducer(const std::string& text) { keep(kept_evidence, text.substr(0, longest_kept)); }

void write_reproducer(const char* phase, const char* what, char (&name)[256]) {
  int file = create(name);
  if (file < 0) {
    name[0] = 0;
    return;
  }
  put(file, kept_version);
  put(file, "phase: ");
  put(file, phase);
  put(file, "\nwhat: ");
  put(file, what);
  put(file, "\n");
  put(file, kept_arguments);
  for (const std::string* text : kept_files) put(file, text);
  put(file, kept_evidence);
  ::close(file);
}

}  // namespace tap::driver
