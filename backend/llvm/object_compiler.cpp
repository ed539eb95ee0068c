#include "backend/llvm/object_compiler.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "backend/llvm/build_id.h"
#include "backend/llvm/emit_llvm.h"
#include "backend/llvm/instrument.h"
#include "backend/llvm/machine_code.h"
#include "backend/llvm/module_key.h"
#include "backend/llvm/optimize.h"
#include "backend/llvm/start_llvm.h"
#include "runtime/executor_stack.h"
#include "runtime/processors.h"
#include "support/check.h"
#include "support/large_heap.h"

namespace tap::backend {
namespace {

// By size, so that no thread is left alone with a large kernel at the end.
std::vector<std::size_t> largest_first(const std::vector<Kernel>& kernels) {
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return kernels[a].exprs.size() > kernels[b].exprs.size(); });
  return order;
}

}  // namespace

struct ObjectCompiler::Impl {
  ObjectOptions options;
  Target target;

  explicit Impl(ObjectOptions o)
      : options(std::move(o)), target(options.target ? *options.target : *target_named("native")) {
    machine_for(target);                              // initialises LLVM's target
    if (build_id().empty()) options.cache = nullptr;  // builds could not be distinguished
  }

  // One step for each of several kernels, by number.
  struct Work {
    std::size_t kernels;
    std::function<void(std::size_t kernel, llvm::TargetMachine& machine_of_thread)> step;
    std::atomic<std::size_t> next = 0;
  };
  void find(const llvm::Module& module, const llvm::TargetMachine& machine_of_thread, const std::string& self_check_key,
            Object& object) const;
  void compile(llvm::Module& module, llvm::TargetMachine& machine_of_thread, Object& object) const;
  void do_pending(Work& work) const;
  void do_all(Work work) const;
  std::size_t threads_for(std::size_t kernels) const;
};

void ObjectCompiler::Impl::find(const llvm::Module& module, const llvm::TargetMachine& machine_of_thread,
                                const std::string& self_check_key, Object& object) const {
  // Sanitizers instrument code for this process alone.
  const bool other = instruments() && options.target;
  const ModuleKey own = key_of(module, machine_of_thread, (other ? "of a file: " : "") + self_check_key);
  object.emitted = own.bytes;
  object.key = own.key;
  object.symbol = "k_" + to_hex(object.key).substr(0, 32);
  auto found = options.cache ? options.cache->find(object.key) : std::nullopt;
  if (!found) return;
  object.bytes = std::move(*found);
  object.cached = true;
}

void ObjectCompiler::Impl::compile(llvm::Module& module, llvm::TargetMachine& machine_of_thread, Object& object) const {
  llvm::Function* function = module.getFunction("kernel");
  function->setName(object.symbol);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  optimize(module, machine_of_thread);
  if (!options.target) instrument(module, machine_of_thread);
  object.bytes = machine_code(module, machine_of_thread, CodeFile::object);
  if (options.cache && options.cache_immediately) options.cache->store(object.key, object.bytes);
}

void ObjectCompiler::Impl::do_pending(Work& work) const {
  InLlvm llvm_guard;
  auto machine_of_thread = machine_for(target);
  for (std::size_t k = work.next++; k < work.kernels; k = work.next++) work.step(k, *machine_of_thread);
}

std::size_t ObjectCompiler::Impl::threads_for(std::size_t kernels) const {
  constexpr std::size_t a_few = 8;
  processors::Set allowed;
  processors::read_allowed(allowed);
  std::size_t requested = options.threads ? options.threads
                                          : std::min(a_few, static_cast<std::size_t>(allowed.count()));
  return std::min(std::max<std::size_t>(requested, 1), kernels);
}

ObjectCompiler::ObjectCompiler(ObjectOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
ObjectCompiler::~ObjectCompiler() = default;
ObjectCompiler::ObjectCompiler(ObjectCompiler&&) noexcept = default;

void ObjectCompiler::keep(const Object& object) const {
  if (impl_->options.cache) impl_->options.cache->store(object.key, object.bytes);
}

void ObjectCompiler::Impl::do_all(Work all) const {
  std::mutex failing;
  std::exception_ptr failure;
  auto work = [&] {
    try {
      do_pending(all);
    } catch (...) {
      all.next = all.kernels;
      std::lock_guard guard(failing);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads_for(all.kernels); ++t) {
    try {
      others.emplace_back([&] {
        AlternateStack for_faults;
        use_large_heap_in_thread();
        work();
      });
    } catch (const std::system_error&) { break; }  // no more threads: the existing ones do it
  }
  if (all.kernels > 0) work();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

namespace {

// The module and the function have the same names for all kernels until the hash is known.
struct Emitted {
  llvm::LLVMContext context;
  llvm::Module module{"kernel", context};

  Emitted(const Kernel& kernel, llvm::TargetMachine& machine) {
    context.setDiscardValueNames(true);  // source names must not affect the hash
    module.setDataLayout(machine.createDataLayout());
    module.setTargetTriple(machine.getTargetTriple());
    emit(kernel, "kernel", module, machine);
  }
};

std::string nth(const std::vector<std::string>& keys, std::size_t n) { return keys.empty() ? "" : keys[n]; }

}  // namespace

std::vector<Object> ObjectCompiler::compile(const std::vector<Kernel>& kernels,
                                            const std::vector<std::string>& self_check_key) const {
  std::vector<Object> objects(kernels.size());
  const std::vector<std::size_t> order = largest_first(kernels);
  std::mutex claiming;
  std::map<Digest, std::size_t> claimed;  // the kernel that is compiled for all that equal it
  auto compiles = [&](std::size_t k) {
    std::lock_guard guard(claiming);
    return claimed.emplace(objects[k].key, k).second;
  };
  impl_->do_all({kernels.size(), [&](std::size_t n, llvm::TargetMachine& machine) {
                   const std::size_t k = order[n];
                   Emitted emitted(kernels[k], machine);
                   impl_->find(emitted.module, machine, nth(self_check_key, k), objects[k]);
                   if (objects[k].bytes.empty() && compiles(k)) impl_->compile(emitted.module, machine, objects[k]);
                 }});
  for (Object& object : objects)
    if (object.bytes.empty()) object.bytes = objects[claimed.at(object.key)].bytes;
  return objects;
}

std::vector<Object> ObjectCompiler::find(const std::vector<Kernel>& kernels,
                                         const std::vector<std::string>& self_check_key) const {
  std::vector<Object> objects(kernels.size());
  impl_->do_all({kernels.size(), [&](std::size_t k, llvm::TargetMachine& machine) {
                   const Emitted emitted(kernels[k], machine);
                   impl_->find(emitted.module, machine, nth(self_check_key, k), objects[k]);
                 }});
  return objects;
}

void ObjectCompiler::complete(const std::vector<Kernel>& kernels, const std::vector<bool>& chosen,
                              std::vector<Object>& objects) const {
  std::vector<std::size_t> numbers;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (chosen[k]) numbers.push_back(k);
  impl_->do_all({numbers.size(), [&](std::size_t n, llvm::TargetMachine& machine) {
                   Emitted emitted(kernels[numbers[n]], machine);
                   impl_->compile(emitted.module, machine, objects[numbers[n]]);
                 }});
}

}  // namespace tap::backend
