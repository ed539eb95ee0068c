#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <mutex>
#include <thread>

#include "backend/embedded_runtime.h"
#include "backend/library.h"
#include "runtime/failure.h"
#include "support/write_all.h"

LLD_HAS_DRIVER(elf)

namespace tap::backend {
namespace {

[[noreturn]] void no_memory_file() {
  throw resource_failure(Code::out_of_memory, "a file in memory cannot be made: " + system_reason(errno));
}

std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

// A file that only this process knows, by a name that the linker can open.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("tapc", MFD_CLOEXEC)) {
    if (descriptor_ < 0) no_memory_file();
    if (write_all(descriptor_, bytes) == 0) return;
    ::close(descriptor_);
    no_memory_file();
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return path_of(descriptor_); }

 private:
  int descriptor_;
};

// What the linker writes: beside a regular file it would make a temporary one, into a pipe it just writes.
class LinkedBytes {
 public:
  LinkedBytes() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) no_memory_file();
    reader_ = std::thread([this] { read(); });
  }
  ~LinkedBytes() { finish(); }
  LinkedBytes(const LinkedBytes&) = delete;
  LinkedBytes& operator=(const LinkedBytes&) = delete;

  std::string path() const { return path_of(ends_[1]); }
  std::string take() {
    finish();
    return std::move(bytes_);
  }

 private:
  void read() {
    std::vector<char> part(1 << 16);
    while (true) {
      auto got = ::read(ends_[0], part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return;
      bytes_.append(part.data(), static_cast<std::size_t>(got));
    }
  }
  void finish() {
    if (!reader_.joinable()) return;
    ::close(ends_[1]);
    reader_.join();
    ::close(ends_[0]);
  }

  int ends_[2];
  std::string bytes_;
  std::thread reader_;
};

// Where the library lies that this process has the function from.
std::string library_of(void* function) {
  Dl_info info;
  return ::dladdr(function, &info) != 0 && info.dli_fname ? info.dli_fname : "";
}

std::string link(std::vector<std::string> options, const std::string& object) {
  static std::mutex one_at_a_time;
  MemoryFile program(object), runtime(embedded::runtime_object);
  LinkedBytes result;
  std::vector<std::string> words = {"ld.lld",          "-o",           result.path(), "--threads=1",
                                    "--build-id=none", program.path(), runtime.path()};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::string said;
  llvm::raw_string_ostream out(said);
  std::lock_guard lock(one_at_a_time);
  lld::Result status = lld::lldMain(arguments, out, out, {{lld::Gnu, &lld::elf::link}});
  if (status.retCode != 0) throw resource_failure(Code::cannot_write, "the linker (LLD) fails: " + said);
  return result.take();
}

}  // namespace

std::string link_shared(const std::string& object) {
  auto* sine = static_cast<double (*)(double)>(std::sin);
  return link({"-shared", "--gc-sections", "-z", "defs", "-z", "now", "-z", "noexecstack", "--as-needed",
               library_of(reinterpret_cast<void*>(&::gnu_get_libc_version)), library_of(reinterpret_cast<void*>(sine))},
              object);
}

std::string link_relocatable(const std::string& object) { return link({"-r"}, object); }

}  // namespace tap::backend
