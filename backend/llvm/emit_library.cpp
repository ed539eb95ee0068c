// The LLVM modules of a library: the words of the schedule, and the exported functions, which pass them and the kernels
// to the runtime (runtime/library.h). The kernels are in modules of their own, or, for the text, in the same one.
#include <fmt/format.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <array>

#include "backend/llvm/emit_llvm.h"
#include "backend/llvm/library.h"
#include "backend/llvm/machine_code.h"
#include "backend/llvm/optimize.h"
#include "backend/llvm/start_llvm.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap::backend {
namespace {

// What the functions are: their code, with the lines of its statements if there is a unit for them; or only the symbols
// that the objects of the kernels define.
struct KernelsOf {
  llvm::DICompileUnit* lines = nullptr;
  const std::vector<Object>* objects = nullptr;
};

class LibraryEmitter {
 public:
  LibraryEmitter(const Library& library, llvm::Module& module, const llvm::TargetMachine& machine,
                 const KernelsOf& kernels)
      : library_(library), module_(module), machine_(machine), b_(module.getContext()), of_(kernels) {}

  void run() {
    of_.objects ? declare_kernels() : emit_kernels();
    emit_program();
    // As declared in runtime/library.h.
    constexpr std::array<Exported, 9> exported = {{{"prepare", Result::status, 3, true},
                                                   {"run", Result::status, 3},
                                                   {"bind", Result::status, 4},
                                                   {"call", Result::status, 1},
                                                   {"unbind", Result::nothing, 1},
                                                   {"prepare_dlpack", Result::status, 3, true},
                                                   {"run_dlpack", Result::status, 3},
                                                   {"message", Result::length, 3},
                                                   {"release", Result::nothing, 1}}};
    for (const Exported& e : exported) emit(e);
    if (!library_.processes.empty()) emit_for_mpi();
    emit_version();
  }

 private:
  enum class Result : std::uint8_t { nothing, status, length };
  struct Exported {
    std::string_view word;
    Result result;
    std::size_t arguments;  // pointers; one that returns a length has the size of a text last
    bool program = false;   // the runtime's function has the program before them
  };

  void emit_kernels() {
    for (const Kernel& kernel : *library_.kernels) {
      std::string symbol = fmt::format("k_{:04}", kernels_.size() + 1);
      tap::backend::emit(kernel, symbol, module_, machine_, of_.lines);
      llvm::Function* function = module_.getFunction(symbol);
      function->setLinkage(llvm::GlobalValue::InternalLinkage);  // objects of several programs may be linked together
      kernels_.push_back(function);
    }
  }

  void declare_kernels() {
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), false);  // only their addresses are needed
    for (const Object& object : *of_.objects) {
      auto* function = llvm::cast<llvm::Function>(module_.getOrInsertFunction(object.symbol, type).getCallee());
      function->setVisibility(llvm::GlobalValue::HiddenVisibility);
      kernels_.push_back(function);
    }
  }

  llvm::GlobalVariable* constant(llvm::Constant* value, const char* name) {
    auto* global =
        new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::InternalLinkage, value, name);
    global->setAlignment(llvm::Align(64));
    return global;
  }

  llvm::GlobalVariable* words(const std::vector<std::int64_t>& list, const char* name) {
    const llvm::ArrayRef<std::uint64_t> all(reinterpret_cast<const std::uint64_t*>(list.data()), list.size());
    return constant(llvm::ConstantDataArray::get(b_.getContext(), all), name);
  }

  void emit_program() {
    auto* list = llvm::ConstantArray::get(llvm::ArrayType::get(b_.getPtrTy(), kernels_.size()), kernels_);
    llvm::GlobalVariable* kernels = constant(list, "t_kernels");
    kernels->setName(kernel_list(library_.prefix));  // for their self-check (self_check.h)
    kernels->setLinkage(llvm::GlobalValue::ExternalLinkage);
    kernels->setVisibility(llvm::GlobalValue::HiddenVisibility);
    std::vector<llvm::Constant*> processes;
    for (const ProcessCode& one : library_.processes)
      processes.push_back(llvm::ConstantStruct::getAnon({b_.getInt64(static_cast<std::uint64_t>(one.rank)),
                                                         b_.getInt64(static_cast<std::uint64_t>(one.ranks)),
                                                         b_.getInt64(static_cast<std::uint64_t>(one.devices)),
                                                         b_.getInt64(static_cast<std::uint64_t>(one.longest_step)),
                                                         words(one.tables, "t_words"), words(one.parts, "t_parts")}));
    llvm::Constant* list_of_processes = llvm::ConstantPointerNull::get(b_.getPtrTy());
    if (!processes.empty())
      list_of_processes = constant(
          llvm::ConstantArray::get(llvm::ArrayType::get(processes.front()->getType(), processes.size()), processes),
          "t_processes");
    auto* all =
        llvm::ConstantStruct::getAnon({words(library_.tables, "t_words"), kernels, b_.getInt64(processes.size()),
                                       list_of_processes, b_.getInt64(static_cast<std::uint64_t>(library_.identity))});
    program_ = constant(all, "tap_library_program");
    // For the main program of a standalone one, if there is one: the code of a library does not depend on that.
    program_->setLinkage(llvm::GlobalValue::ExternalLinkage);
    program_->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }

  // Forwards its arguments.
  void emit(const Exported& e) {
    llvm::Type* result = e.result == Result::nothing  ? b_.getVoidTy()
                         : e.result == Result::length ? b_.getInt64Ty()
                                                      : b_.getInt32Ty();
    std::vector<llvm::Type*> types(e.arguments, b_.getPtrTy());
    if (e.result == Result::length) types.back() = b_.getInt64Ty();
    std::vector<llvm::Type*> inner = types;
    if (e.program) inner.insert(inner.begin(), b_.getPtrTy());
    auto callee = module_.getOrInsertFunction(fmt::format("tap_library_{}", e.word),
                                              llvm::FunctionType::get(result, inner, false));
    llvm::Function* function = define(e.word, llvm::FunctionType::get(result, types, false));
    std::vector<llvm::Value*> arguments;
    if (e.program) arguments.push_back(program_);
    for (llvm::Argument& a : function->args()) arguments.push_back(&a);
    llvm::Value* value = b_.CreateCall(callee, arguments);
    result->isVoidTy() ? b_.CreateRetVoid() : b_.CreateRet(value);
  }

  // PREFIX_prepare_mpi(context, communicator, constants, options), PREFIX_part(kind, rank, ranks, number, bounds)
  void emit_for_mpi() {
    llvm::Type *pointer = b_.getPtrTy(), *int32 = b_.getInt32Ty(), *int64 = b_.getInt64Ty();
    auto prepare = module_.getOrInsertFunction(
        "tap_library_prepare_mpi",
        llvm::FunctionType::get(int32, {pointer, pointer, pointer, pointer, pointer}, false));
    llvm::Function* made =
        define("prepare_mpi", llvm::FunctionType::get(int32, {pointer, int32, pointer, pointer}, false));
    llvm::Value* communicator = b_.CreateAlloca(int32);
    b_.CreateStore(made->getArg(1), communicator);
    b_.CreateRet(b_.CreateCall(prepare, {program_, made->getArg(0), communicator, made->getArg(2), made->getArg(3)}));
    auto part = module_.getOrInsertFunction(
        "tap_library_part", llvm::FunctionType::get(int64, {pointer, int32, int64, int64, int64, pointer}, false));
    llvm::Function* asked =
        define("part", llvm::FunctionType::get(int64, {int32, int64, int64, int64, pointer}, false));
    std::vector<llvm::Value*> arguments{program_};
    for (llvm::Argument& a : asked->args()) arguments.push_back(&a);
    b_.CreateRet(b_.CreateCall(part, arguments));
  }

  void emit_version() {
    define("abi_version", llvm::FunctionType::get(b_.getInt32Ty(), false));
    b_.CreateRet(b_.getInt32(1));
  }

  llvm::Function* define(std::string_view word, llvm::FunctionType* type) {
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                            fmt::format("{}_{}", library_.prefix, word), module_);
    function->setDoesNotThrow();
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", function));
    return function;
  }

  const Library& library_;
  llvm::Module& module_;
  const llvm::TargetMachine& machine_;
  llvm::IRBuilder<> b_;
  KernelsOf of_;
  std::vector<llvm::Constant*> kernels_;
  llvm::GlobalVariable* program_ = nullptr;
};

}  // namespace

std::string kernel_list(std::string_view prefix) { return fmt::format("{}_kernels", prefix); }

namespace {

void prepare(llvm::Module& module, const Target& target, const llvm::TargetMachine& machine) {
  module.setTargetTriple(llvm::Triple(target.triple));
  module.setDataLayout(machine.createDataLayout());
}

// A module of its own: the code that runs knows nothing of lines.
std::string located_assembly(const Library& library, const Target& target, llvm::TargetMachine& machine) {
  llvm::LLVMContext context;
  llvm::Module module("library", context);
  prepare(module, target, machine);
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  llvm::DIBuilder builder(module);
  llvm::DICompileUnit* unit = builder.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C),
                                                        builder.createFile("loops", "."), "tapc", true, "", 0, "",
                                                        llvm::DICompileUnit::LineTablesOnly);
  LibraryEmitter(library, module, machine, {.lines = unit}).run();
  builder.finalize();
  optimize(module, machine);
  return machine_code(module, machine, CodeFile::assembly);
}

}  // namespace

LibraryText emit(const Library& library, const Target& target, const TextOptions& options) {
  InLlvm llvm_guard;
  auto machine = machine_for(target);
  llvm::LLVMContext context;
  llvm::Module module("library", context);
  prepare(module, target, *machine);
  LibraryEmitter(library, module, *machine, {}).run();
  optimize(module, *machine);
  LibraryText result;
  if (options.llvm) {
    llvm::raw_string_ostream out(result.llvm);
    module.print(out, nullptr);
  }
  if (options.assembly) result.assembly = machine_code(module, *machine, CodeFile::assembly);
  if (options.located) result.located = located_assembly(library, target, *machine);
  return result;
}

LibraryCode compile(const Library& library, const Target& target, const CodeOptions& options) {
  LibraryCode result;
  const ObjectCompiler compiler(
      {.threads = options.threads, .cache = options.cache, .cache_immediately = false, .target = target});
  result.kernels = compiler.compile(*library.kernels, options.self_check_key);
  InLlvm llvm_guard;
  auto machine = machine_for(target);
  llvm::LLVMContext context;
  llvm::Module module("library", context);
  prepare(module, target, *machine);
  LibraryEmitter(library, module, *machine, {.objects = &result.kernels}).run();
  optimize(module, *machine);
  result.program = machine_code(module, *machine, CodeFile::object);
  return result;
}

}  // namespace tap::backend
