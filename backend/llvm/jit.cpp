#include "backend/llvm/jit.h"

#include <chrono>
#include <map>

#include "backend/llvm/loaded_object.h"
#include "backend/llvm/shared_objects.h"
#include "support/check.h"

namespace tap::backend {

struct Jit::Impl {
  ObjectCompiler compiler;
  std::map<std::string, LoadedObject> loaded;  // by symbol
  std::size_t cached = 0;
  KernelCounts counts;
  explicit Impl(ObjectOptions options) : compiler(std::move(options)) {}

  // Kernel `k`, tested if this process compiled it.
  KernelFunction take(const Object& object, std::size_t k, const KernelTrial& trial) {
    cached += object.cached;
    const bool fresh = !loaded.contains(object.symbol);
    const KernelFunction function = load(object);
    if (!fresh) return function;
    ++(object.cached ? counts.cached : object.received ? counts.received : counts.compiled);
    if (object.cached || object.received || !trial.run) return function;
    trial.run(k, function);
    compiler.keep(object);
    return function;
  }

  KernelFunction load(const Object& object) {
    auto place = loaded.find(object.symbol);
    if (place == loaded.end()) place = loaded.emplace(object.symbol, LoadedObject(object.bytes)).first;
    const void* address = place->second.address_of(object.symbol);
    TAP_CHECK(address, "an object file lacks its kernel");
    return reinterpret_cast<KernelFunction>(const_cast<void*>(address));
  }
};

Jit::Jit(ObjectOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Jit::~Jit() = default;
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

KernelFunction Jit::load(const Object& object) { return impl_->load(object); }

std::size_t Jit::cached() const { return impl_->cached; }

const KernelCounts& Jit::counts() const { return impl_->counts; }

}  // namespace tap::backend
