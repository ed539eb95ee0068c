#include "backend/llvm/jit.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <set>

#include "backend/llvm/memory_failure.h"
#include "support/check.h"

namespace tap::backend {
namespace {

template <class T>
T checked(llvm::Expected<T> value, const char* what) {
  if (!value) TAP_UNREACHABLE(std::string(what) + ": " + llvm::toString(value.takeError()));
  return std::move(*value);
}

void check(llvm::Error error, const char* what) {
  if (error) TAP_UNREACHABLE(std::string(what) + ": " + llvm::toString(std::move(error)));
}

}  // namespace

struct Jit::Impl {
  ObjectCompiler compiler;  // first: it initialises LLVM's target
  std::unique_ptr<llvm::orc::LLJIT> orc;
  std::set<std::string> symbols;  // of the loaded objects
  std::size_t cached = 0;
  explicit Impl(ObjectOptions options) : compiler(std::move(options)) {}

  KernelFunction load(const Object& object, bool fresh) {
    InLlvm llvm_guard;
    if (fresh)
      check(orc->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object.bytes, object.symbol)),
            "the JIT rejects an object file");
    return checked(orc->lookup(object.symbol), "a kernel is not found").toPtr<KernelFunction>();
  }
};

Jit::Jit(ObjectOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  InLlvm llvm_guard;
  impl_->orc = checked(llvm::orc::LLJITBuilder().create(), "the JIT cannot be created");
  // Functions of the C library resolve to those of this process.
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(impl_->orc->getDataLayout().getGlobalPrefix());
  impl_->orc->getMainJITDylib().addGenerator(
      checked(std::move(process), "the symbols of the process are not available"));
}
Jit::~Jit() {
  InLlvm llvm_guard;
  impl_.reset();
}
Jit::Jit(Jit&&) noexcept = default;

std::vector<KernelFunction> Jit::compile(const std::vector<Kernel>& kernels, const KernelTrial& trial) {
  std::vector<KernelFunction> functions;
  for (const Object& object : impl_->compiler.compile(kernels, trial.against)) {
    impl_->cached += object.cached;
    const bool fresh = impl_->symbols.insert(object.symbol).second;
    functions.push_back(impl_->load(object, fresh));
    if (!fresh || object.cached || !trial.run) continue;
    trial.run(functions.size() - 1, functions.back());
    impl_->compiler.keep(object);
  }
  return functions;
}

std::size_t Jit::cached() const { return impl_->cached; }

}  // namespace tap::backend
