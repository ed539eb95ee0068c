#include "backend/llvm/jit.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <chrono>
#include <set>

#include "backend/llvm/shared_objects.h"
#include "backend/llvm/start_llvm.h"
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
  KernelCounts counts;
  explicit Impl(ObjectOptions options) : compiler(std::move(options)) {}

  // Kernel `k`, tested if this process compiled it.
  KernelFunction take(const Object& object, std::size_t k, const KernelTrial& trial) {
    cached += object.cached;
    const bool fresh = symbols.insert(object.symbol).second;
    const KernelFunction function = load(object, fresh);
    if (!fresh) return function;
    ++(object.cached ? counts.cached : object.received ? counts.received : counts.compiled);
    if (object.cached || object.received || !trial.run) return function;
    trial.run(k, function);
    compiler.keep(object);
    return function;
  }

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

std::vector<KernelFunction> Jit::compile(const std::vector<Kernel>& kernels, const KernelTrial& trial,
                                         SharedObjects* shared) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<Object> objects;
  if (shared) {
    objects = impl_->compiler.find(kernels, trial.against);
    impl_->compiler.complete(kernels, shared->own_share(objects), objects);
  } else {
    objects = impl_->compiler.compile(kernels, trial.against);
  }
  std::vector<KernelFunction> functions(kernels.size());
  auto take_those_with_bytes = [&] {
    for (std::size_t k = 0; k < objects.size(); ++k)
      if (!functions[k] && !objects[k].bytes.empty()) functions[k] = impl_->take(objects[k], k, trial);
  };
  take_those_with_bytes();
  if (shared) shared->exchange(objects);  // tested ones
  take_those_with_bytes();
  impl_->counts.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return functions;
}

KernelFunction Jit::load(const Object& object) {
  return impl_->load(object, impl_->symbols.insert(object.symbol).second);
}

std::size_t Jit::cached() const { return impl_->cached; }

const KernelCounts& Jit::counts() const { return impl_->counts; }

}  // namespace tap::backend
