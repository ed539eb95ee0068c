#include "backend/jit.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/emit_llvm.h"
#include "backend/optimize.h"
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

void initialise_target() {
  static const bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)once;
}

}  // namespace

struct Jit::Impl {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::orc::LLJIT> orc;
  std::size_t compiled = 0;
};

Jit::Jit() : impl_(std::make_unique<Impl>()) {
  initialise_target();
  auto host = checked(llvm::orc::JITTargetMachineBuilder::detectHost(), "this machine is not known to LLVM");
  host.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  impl_->machine = checked(host.createTargetMachine(), "LLVM makes no code for this machine");
  impl_->orc =
      checked(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(host)).create(), "the JIT does not start");
  // The C library's functions are those of this process.
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(impl_->orc->getDataLayout().getGlobalPrefix());
  impl_->orc->getMainJITDylib().addGenerator(checked(std::move(process), "the process's symbols cannot be seen"));
}
Jit::~Jit() = default;
Jit::Jit(Jit&&) noexcept = default;

std::vector<KernelFunction> Jit::compile(const std::vector<Kernel>& kernels) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("kernels", *context);
  module->setDataLayout(impl_->orc->getDataLayout());
  module->setTargetTriple(impl_->orc->getTargetTriple());
  std::vector<std::string> symbols;
  for (const Kernel& kernel : kernels) {
    symbols.push_back(fmt::format("k_{:04}", ++impl_->compiled));
    emit(kernel, symbols.back(), *module);
  }
  optimize(*module, *impl_->machine);
  check(impl_->orc->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))),
        "a module is refused");
  std::vector<KernelFunction> functions;
  for (const auto& symbol : symbols)
    functions.push_back(checked(impl_->orc->lookup(symbol), "a kernel is not found").toPtr<KernelFunction>());
  return functions;
}

}  // namespace tap::backend
