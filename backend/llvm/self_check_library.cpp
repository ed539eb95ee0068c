#include "backend/llvm/self_check_library.h"

#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/TargetSelect.h>

#include "backend/compiled_program.h"
#include "backend/llvm/memory_failure.h"
#include "support/check.h"

namespace tap::backend {
namespace {

using namespace llvm::orc;

template <class T>
T loaded(llvm::Expected<T> value) {
  if (!value) TAP_UNREACHABLE("the library's object cannot be loaded: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

void never_called() { TAP_UNREACHABLE("a kernel calls the runtime"); }

// The object in memory. Its calls of the runtime are unresolved: kernels make none.
class LoadedObject {
 public:
  explicit LoadedObject(const std::string& object) {
    InLlvm llvm_guard;
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    jit_ = loaded(LLJITBuilder().create());
    JITDylib& library = jit_->getMainJITDylib();
    library.addGenerator(
        loaded(DynamicLibrarySearchGenerator::GetForCurrentProcess(jit_->getDataLayout().getGlobalPrefix())));
    SymbolMap runtime;
    for (const char* word : {"prepare", "run", "bind", "call", "unbind", "prepare_dlpack", "run_dlpack", "message",
                             "release", "prepare_mpi", "part"})
      runtime[jit_->mangleAndIntern(std::string("tap_library_") + word)] = {ExecutorAddr::fromPtr(&never_called),
                                                                            llvm::JITSymbolFlags::Exported};
    TAP_CHECK(!library.define(absoluteSymbols(std::move(runtime))), "the runtime's functions are defined twice");
    TAP_CHECK(!jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "library")),
              "the JIT rejects an object file");
  }
  ~LoadedObject() {
    InLlvm llvm_guard;
    jit_.reset();
  }
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  const KernelFunction* kernels(const std::string& symbol) {
    InLlvm llvm_guard;
    return loaded(jit_->lookup(symbol)).toPtr<const KernelFunction*>();
  }

 private:
  std::unique_ptr<LLJIT> jit_;
};

}  // namespace

void check_library(const CompiledProgram& compiled, const std::string& object, const std::string& prefix,
                   const SelfCheckOptions& options) {
  const KernelTable& table = compiled.kernels;
  if (!options.on || table.kernels.empty()) return;
  LoadedObject library(object);
  const KernelFunction* functions = library.kernels(kernel_list(prefix));
  for (std::size_t k = 0; k < table.kernels.size(); ++k)
    check_kernel(compiled.blocks.program, table.sources[k], k, table.kernels[k], functions[k], options);
}

std::string check_key(const CompiledProgram& compiled, const SelfCheckOptions& options) {
  if (!options.on) return "";
  std::string all;
  for (const KernelSource& source : compiled.kernels.sources)
    all += self_check_key(compiled.blocks.program, source, options) + "\n";
  return all;
}

}  // namespace tap::backend
