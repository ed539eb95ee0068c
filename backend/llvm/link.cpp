#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <lld/Common/Driver.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/Binary.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <list>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "backend/llvm/embedded_runtime.h"
#include "backend/llvm/library.h"
#include "backend/llvm/start_llvm.h"
#include "ir/graph.h"
#include "runtime/failure.h"
#include "support/check.h"
#include "support/write_all.h"

LLD_HAS_DRIVER(elf)

namespace tap::backend {
namespace {

[[noreturn]] void no_memory_file() {
  throw resource_failure(Code::out_of_memory, "cannot create a file in memory: " + system_reason(errno));
}

std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

// A file known only to this process, with a name that the linker can open.
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

// Receives the linker's output: for a regular file the linker would create a temporary one, but it writes directly into
// a pipe.
class LinkedBytes {
 public:
  LinkedBytes() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) no_memory_file();
    try {
      reader_ = std::thread([this] { read(); });
    } catch (const std::system_error& why) {
      for (int end : ends_) ::close(end);
      throw resource_failure(Code::out_of_memory, "cannot start a thread: " + system_reason(why.code().value()));
    }
  }
  ~LinkedBytes() { finish(); }
  LinkedBytes(const LinkedBytes&) = delete;
  LinkedBytes& operator=(const LinkedBytes&) = delete;

  std::string path() const { return path_of(ends_[1]); }
  std::string take() {
    finish();
    if (refused_) throw std::bad_alloc();
    return std::move(bytes_);
  }

 private:
  void read() {
    std::array<char, 1 << 14> part;
    while (true) {
      auto got = ::read(ends_[0], part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return;
      if (!refused_) keep({part.data(), static_cast<std::size_t>(got)});
    }
  }
  // Continues to read even if the data cannot be kept: the linker waits for the reader.
  void keep(std::string_view bytes) {
    try {
      bytes_.append(bytes);
    } catch (const std::bad_alloc&) { refused_ = true; }
  }
  void finish() {
    if (!reader_.joinable()) return;
    ::close(ends_[1]);
    reader_.join();
    ::close(ends_[0]);
  }

  int ends_[2];
  std::string bytes_;
  bool refused_ = false;
  std::thread reader_;
};

// The path of the library from which this process has the function.
std::string library_of(void* function) {
  Dl_info info;
  return ::dladdr(function, &info) != 0 && info.dli_fname ? info.dli_fname : "";
}

// The program, then each kernel once.
std::vector<std::string_view> objects_of(const LibraryCode& code) {
  std::vector<std::string_view> objects = {code.program};
  std::set<std::string_view> symbols;
  for (const Object& kernel : code.kernels)
    if (symbols.insert(kernel.symbol).second) objects.push_back(kernel.bytes);
  return objects;
}

std::string link(const std::vector<std::string>& options, const std::vector<std::string_view>& objects) {
  static std::mutex one_at_a_time;
  std::list<MemoryFile> files;
  LinkedBytes result;
  std::vector<std::string> words = {"ld.lld", "-o", result.path(), "--threads=1", "--build-id=none"};
  for (std::string_view object : objects) words.push_back(files.emplace_back(object).path());
  words.insert(words.end(), options.begin(), options.end());
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::string messages;
  llvm::raw_string_ostream out(messages);
  std::lock_guard lock(one_at_a_time);
  static bool broken = false;  // after a crash, LLD must not be called again
  TAP_CHECK(!broken, "the linker has crashed before in this process");
  lld::Result status = [&] {
    InLlvm llvm_guard;
    return lld::lldMain(arguments, out, out, {{lld::Gnu, &lld::elf::link}});
  }();
  broken = !status.canRunAgain;
  if (status.retCode != 0) throw resource_failure(Code::cannot_write, "the linker (LLD) failed: " + messages);
  return result.take();
}

std::vector<std::string> with_system_libraries(std::vector<std::string> options) {
  auto* sine = static_cast<double (*)(double)>(std::sin);
  options.insert(options.end(), {"--gc-sections", "-z", "defs", "-z", "now", "-z", "noexecstack", "--as-needed",
                                 library_of(reinterpret_cast<void*>(&::gnu_get_libc_version)),
                                 library_of(reinterpret_cast<void*>(sine))});
  return options;
}

}  // namespace

std::string link_shared(const LibraryCode& code, const std::string& name) {
  std::vector<std::string_view> objects = objects_of(code);
  objects.push_back(embedded::runtime_object);
  return link(with_system_libraries({"-shared", "-soname", name}), objects);
}

std::string link_program(const LibraryCode& code) {
#ifdef __x86_64__
  const char* loader = "/lib64/ld-linux-x86-64.so.2";
#else
  const char* loader = "/lib/ld-linux-aarch64.so.1";
#endif
  std::vector<std::string_view> objects = objects_of(code);
  objects.push_back(embedded::runtime_object);
  objects.push_back(embedded::standalone_object);
  return link(with_system_libraries({"-pie", "--dynamic-linker", loader}), objects);
}

// Makes hidden symbols local, so that objects of several programs can be linked together.
std::string link_relocatable(const LibraryCode& code, const Target& target) {
  std::vector<std::string_view> objects = objects_of(code);
  if (target.linkable) objects.push_back(embedded::runtime_object);
  std::string linked = link({"-r"}, objects);
  InLlvm llvm_guard;
  auto binary = llvm::object::createBinary(llvm::MemoryBufferRef(linked, "linked"));
  TAP_CHECK(static_cast<bool>(binary), "the linker wrote no object");
  llvm::objcopy::ConfigManager config;
  config.ELF.LocalizeHidden = true;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::Error failure = llvm::objcopy::executeObjcopyOnBinary(config, **binary, out);
  if (failure) {  // the linker has just written this object, so only memory can be lacking
    llvm::consumeError(std::move(failure));
    throw std::bad_alloc();
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace tap::backend
