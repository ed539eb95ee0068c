#include "backend/llvm/object_compiler.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "backend/llvm/build_id.h"
#include "backend/llvm/emit_llvm.h"
#include "backend/llvm/instrument.h"
#include "backend/llvm/kernel_key.h"
#include "backend/llvm/machine_code.h"
#include "backend/llvm/optimize.h"
#include "backend/llvm/start_llvm.h"
#include "runtime/executor_stack.h"
#include "runtime/processors.h"
#include "support/check.h"
#include "support/large_heap.h"

namespace tap::backend {
struct ObjectCompiler::Impl {
  ObjectOptions options;
  Target target;

  explicit Impl(ObjectOptions o)
      : options(std::move(o)), target(options.target ? *options.target : *target_named("native")) {
    if (build_id().empty()) options.cache = nullptr;  // builds could not be distinguished
  }

  // One step for each of several kernels, by number.
  struct Work {
    std::size_t kernels;
    std::function<void(std::size_t kernel, llvm::TargetMachine& machine_of_thread)> step;
    std::atomic<std::size_t> next = 0;
  };
  Object find(const Kernel& kernel, const std::string& self_check_key) const;
  void compile(const Kernel& kernel, llvm::TargetMachine& machine_of_thread, Object& object) const;
  void compile(const std::vector<Kernel>& kernels, const std::vector<std::size_t>& numbers,
               std::vector<Object>& objects) const;
  void do_pending(Work& work) const;
  void do_all(Work work) const;
  std::size_t threads_for(std::size_t kernels) const;
};

Object ObjectCompiler::Impl::find(const Kernel& kernel, const std::string& self_check_key) const {
  // Sanitizers instrument code for this process alone.
  const bool other = instruments() && options.target;
  const KernelKey own = key_of(kernel, target, (other ? "of a file: " : "") + self_check_key);
  Object object;
  object.size = own.bytes;
  object.key = own.key;
  object.symbol = "k_" + to_hex(object.key).substr(0, 32);
  auto found = options.cache ? options.cache->find(object.key) : std::nullopt;
  if (!found) return object;
  object.bytes = std::move(*found);
  object.cached = true;
  return object;
}

namespace {

// The module and the function have the same names for all kernels, and no name of the source is in the code.
struct Emitted {
  llvm::LLVMContext context;
  llvm::Module module{"kernel", context};

  Emitted(const Kernel& kernel, llvm::TargetMachine& machine) {
    context.setDiscardValueNames(true);
    module.setDataLayout(machine.createDataLayout());
    module.setTargetTriple(machine.getTargetTriple());
    emit(kernel, "kernel", module, machine);
  }
};

}  // namespace

void ObjectCompiler::Impl::compile(const Kernel& kernel, llvm::TargetMachine& machine_of_thread, Object& object) const {
  Emitted emitted(kernel, machine_of_thread);
  llvm::Module& module = emitted.module;
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

// By size, so that no thread is left alone with a large kernel at the end.
void ObjectCompiler::Impl::compile(const std::vector<Kernel>& kernels, const std::vector<std::size_t>& numbers,
                                   std::vector<Object>& objects) const {
  std::vector<std::size_t> order = numbers;
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t k) { return kernels[k].exprs.size(); });
  do_all({order.size(), [&](std::size_t n, llvm::TargetMachine& machine) {
            compile(kernels[order[n]], machine, objects[order[n]]);
          }});
}

std::vector<Object> ObjectCompiler::find(const std::vector<Kernel>& kernels,
                                         const std::vector<std::string>& self_check_key) const {
  std::vector<Object> objects;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    objects.push_back(impl_->find(kernels[k], self_check_key.empty() ? "" : self_check_key[k]));
  return objects;
}

std::vector<Object> ObjectCompiler::compile(const std::vector<Kernel>& kernels,
                                            const std::vector<std::string>& self_check_key) const {
  std::vector<Object> objects = find(kernels, self_check_key);
  std::map<Digest, std::size_t> chosen;  // the kernel that is compiled for all that equal it
  std::vector<std::size_t> numbers;
  for (std::size_t k = 0; k < objects.size(); ++k)
    if (objects[k].bytes.empty() && chosen.emplace(objects[k].key, k).second) numbers.push_back(k);
  impl_->compile(kernels, numbers, objects);
  for (Object& object : objects)
    if (object.bytes.empty()) object.bytes = objects[chosen.at(object.key)].bytes;
  return objects;
}

void ObjectCompiler::complete(const std::vector<Kernel>& kernels, const std::vector<bool>& chosen,
                              std::vector<Object>& objects) const {
  std::vector<std::size_t> numbers;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (chosen[k]) numbers.push_back(k);
  impl_->compile(kernels, numbers, objects);
}

}  // namespace tap::backend
