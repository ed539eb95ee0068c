#include "compiler/driver/bindings/loaded_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "backend/llvm/library.h"
#include "ir/interpret/interpret.h"
#include "runtime/executor.h"
#include "runtime/failure.h"
#include "runtime/guarded_results.h"
#include "runtime/library.h"
#include "support/read_file.h"
#include "support/write_all.h"

namespace tap::driver {
namespace {

constexpr std::uint64_t most_library_bytes = std::uint64_t{1} << 32;

Failure unfit(const std::string& library, const std::string& what) {
  return wrong_data(Code::data_malformed, tap::quoted(library) + " cannot be run: " + what);
}

// Tensors in DLPack's form, so that the library checks types and shapes: the manifest may have been edited.
class Arguments {
 public:
  void add(const Tensor& tensor, void* data) { add(tensor.type(), tensor.shape(), data); }
  void add(ElementType type, const Shape& shape, void* data) {
    library::DlTensor t{};
    t.data = data;
    t.device = {1, 0};
    t.rank = static_cast<std::int32_t>(shape.size());
    t.type = {library::dl_codes[static_cast<std::size_t>(type)], static_cast<std::uint8_t>(8 * size_of(type)), 1};
    t.shape = shape.data();
    tensors_.push_back(t);
  }
  // With a null after the last one, where the library notices a missing tensor; or in place of the last one.
  const library::DlTensor* const* pointers() { return pointers(tensors_.size()); }
  const library::DlTensor* const* without_the_last() { return pointers(tensors_.size() - 1); }
  bool any() const { return !tensors_.empty(); }

 private:
  const library::DlTensor* const* pointers(std::size_t count) {
    pointers_.clear();
    for (std::size_t k = 0; k < count; ++k) pointers_.push_back(&tensors_[k]);
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

  std::vector<library::DlTensor> tensors_;
  std::vector<const library::DlTensor*> pointers_;
};

using Prepare = std::int32_t (*)(void**, const library::DlTensor* const*, const library::Options*);
using Run = std::int32_t (*)(void*, const library::DlTensor* const*, const library::DlTensor* const*);

std::string read_library(const std::string& path) {
  auto read = read_regular_file(path, most_library_bytes);
  if (auto* bytes = std::get_if<std::string>(&read)) return std::move(*bytes);
  const auto& refusal = std::get<FileRefusal>(read);
  std::string why = refusal.why == FileRefusal::Why::system        ? system_reason(refusal.error)
                    : refusal.why == FileRefusal::Why::not_regular ? "it is " + std::string(refusal.kind)
                                                                   : "it is larger than 4 GiB";
  throw wrong_data(Code::cannot_read,
                   tap::quoted(path) + ", the library named by the manifest, cannot be read: " + why);
}

void require_elf(const std::string& shown, const std::string& bytes) {
  Elf64_Ehdr head;
  if (bytes.size() < sizeof head || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    throw unfit(shown, "it is not a shared library (not an ELF file)");
  std::memcpy(&head, bytes.data(), sizeof head);
#ifdef __x86_64__
  constexpr auto host_machine = EM_X86_64;
#else
  constexpr auto host_machine = EM_AARCH64;
#endif
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != host_machine || head.e_type != ET_DYN)
    throw unfit(shown, "it is a shared library for a different processor architecture");
}

}  // namespace

LoadedLibrary::LoadedLibrary(const Manifest& manifest, const std::string& path) : manifest_(manifest) {
  shown_ = path.substr(0, path.rfind('/') + 1) + manifest.file;
  if (manifest.abi != library::abi_version)
    throw unfit(shown_, fmt::format("its ABI has version {}; this tapc supports version {}", manifest.abi,
                                    library::abi_version));
  if (auto missing = backend::missing_features(manifest.features); !missing.empty())
    throw unfit(shown_, fmt::format("it was compiled for {}, and this processor lacks {}", manifest.target,
                                    fmt::join(missing, ", ")));
  std::string bytes = read_library(shown_);
  require_elf(shown_, bytes);
  if (std::string hash = backend::sha256(bytes); hash != manifest.hash)
    throw unfit(shown_, "its SHA-256 is " + hash + ", and the manifest says " + tap::quoted(manifest.hash));
  file_ = ::memfd_create("tapc", MFD_CLOEXEC);
  if (file_ < 0 || write_all(file_, bytes) != 0)
    throw resource_failure(Code::out_of_memory, "cannot create a file in memory: " + system_reason(errno));
  handle_ = ::dlopen(fmt::format("/proc/self/fd/{}", file_).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) {
    const char* why = ::dlerror();
    throw unfit(shown_, std::string("the system cannot load it: ") + (why ? why : "unknown reason"));
  }
  auto version = reinterpret_cast<std::int32_t (*)()>(function("abi_version"))();
  if (version != library::abi_version)
    throw unfit(shown_,
                fmt::format("its ABI has version {}; this tapc supports version {}", version, library::abi_version));
  for (const char* word : {"prepare_dlpack", "run_dlpack", "message", "release"}) function(word);
  require_shapes();
}

// Called before any tensor is allocated: passes all tensors without cells to the library, which must refuse them; wrong
// types or shapes are reported first, with that reason.
void LoadedLibrary::require_shapes() const {
  Arguments constants, given, out;
  bool any = false;
  for (const auto* list : {&manifest_.inputs, &manifest_.outputs})
    for (const ManifestTensor& tensor : *list) {
      Arguments& arguments = list == &manifest_.outputs ? out : tensor.constant ? constants : given;
      arguments.add(tensor.type.element, tensor.type.shape, nullptr);
      any = any || element_count(tensor.type.shape) > 0;
    }
  if (!any) return;  // it would run
  const auto release = reinterpret_cast<void (*)(void*)>(function("release"));
  const auto message = reinterpret_cast<std::size_t (*)(void*, char*, std::size_t)>(function("message"));
  void* context = nullptr;
  const library::Options options{1, nullptr};
  auto last_message = [&] {
    std::string text(message(context, nullptr, 0) + 1, '\0');
    message(context, text.data(), text.size());
    text.pop_back();
    return text;
  };
  reinterpret_cast<Prepare>(function("prepare_dlpack"))(&context, constants.pointers(), &options);
  std::string why = context ? last_message() : "";
  if (context && why.find(library::misfit) == why.npos) {
    reinterpret_cast<Run>(function("run_dlpack"))(context, given.pointers(), out.pointers());
    why = last_message();
  }
  if (context) release(context);
  if (why.find(library::misfit) != why.npos) throw unfit(shown_, why);
}

LoadedLibrary::~LoadedLibrary() {
  if (handle_) ::dlclose(handle_);
  if (file_ >= 0) ::close(file_);
}

void* LoadedLibrary::function(const std::string& word) const {
  void* found = ::dlsym(handle_, (manifest_.prefix + "_" + word).c_str());
  if (!found) throw unfit(shown_, "it lacks the function " + tap::quoted(manifest_.prefix + "_" + word));
  return found;
}

std::vector<Tensor> LoadedLibrary::run(const std::vector<Tensor>& inputs, std::size_t threads,
                                       const std::vector<OutsideFunction>& kernels) const {
  Arguments constants, given, out;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    (manifest_.inputs[k].constant ? constants : given).add(inputs[k], const_cast<std::byte*>(inputs[k].data()));
  std::vector<Tensor> outputs;
  for (const ManifestTensor& output : manifest_.outputs) outputs.emplace_back(output.type.element, output.type.shape);
  GuardedResults guarded;
  const bool guard = tests_are_thorough();
  for (Tensor& output : outputs) out.add(output, guard ? guarded.add(output) : output.mutable_data());

  struct Context {
    void* it = nullptr;
    void (*release)(void*);
    ~Context() { release(it); }
  };
  const auto release = reinterpret_cast<void (*)(void*)>(function("release"));
  const auto prepare = reinterpret_cast<Prepare>(function("prepare_dlpack"));
  const auto run = reinterpret_cast<Run>(function("run_dlpack"));
  library::Options options{static_cast<std::int64_t>(threads), kernels.data()};
  if (Context context{nullptr, release}; constants.any())
    require_missed(prepare(&context.it, constants.without_the_last(), &options), "constants");
  Context context{nullptr, release};
  const std::int32_t prepared = prepare(&context.it, constants.pointers(), &options);  // first: it creates the context
  check(prepared, context.it);
  if (given.any()) require_missed(run(context.it, given.without_the_last(), out.pointers()), "inputs");
  if (out.any()) require_missed(run(context.it, given.pointers(), out.without_the_last()), "outputs");
  check(run(context.it, given.pointers(), out.pointers()), context.it);
  guarded.take();
  return outputs;
}

// A library that runs without the manifest's last tensor has fewer tensors than the manifest.
void LoadedLibrary::require_missed(std::int32_t status, const char* what) const {
  if (status == static_cast<std::int32_t>(executor::Status::wrong_argument)) return;
  throw unfit(shown_, fmt::format("its number of {} differs from that in the manifest", what));
}

void LoadedLibrary::check(std::int32_t status, void* context) const {
  if (status == 0) return;
  if (status == static_cast<std::int32_t>(executor::Status::no_memory)) throw std::bad_alloc();
  auto message = reinterpret_cast<std::size_t (*)(void*, char*, std::size_t)>(function("message"));
  std::string text(message(context, nullptr, 0) + 1, '\0');
  message(context, text.data(), text.size());
  text.pop_back();
  if (status == static_cast<std::int32_t>(executor::Status::wrong_argument) ||
      status == static_cast<std::int32_t>(executor::Status::wrong_processor))
    throw unfit(shown_, text);
  throw ir::EvaluationError{text};
}

}  // namespace tap::driver
