#include "tests/backend/array_function.h"

#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/emit_arithmetic.h"
#include "backend/optimize.h"
#include "support/check.h"

namespace tap::backend::test {
namespace {

using llvm::Value;

// for (i = 0; i < n; i += lanes) result[i] = op(x[i], y[i])
void emit_loop(llvm::Module& module, ir::CellOp op, ElementType type, unsigned lanes) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Type* pointer = b.getPtrTy();
  auto* signature = llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, pointer, b.getInt64Ty()}, false);
  auto* function = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, "f", module);
  for (unsigned k : {0u, 1u, 2u}) function->addParamAttr(k, llvm::Attribute::NoAlias);
  auto* entry = llvm::BasicBlock::Create(context, "entry", function);
  auto* body = llvm::BasicBlock::Create(context, "body", function);
  auto* done = llvm::BasicBlock::Create(context, "done", function);
  b.SetInsertPoint(entry);
  b.CreateCondBr(b.CreateICmpSGT(function->getArg(3), b.getInt64(0)), body, done);
  b.SetInsertPoint(body);
  auto* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(b.getInt64(0), entry);
  llvm::Type* scalar = register_type(context, type);
  llvm::Type* value = lanes ? llvm::FixedVectorType::get(scalar, lanes) : scalar;
  std::vector<Value*> args;
  for (int k = 0; k < ir::info(op).arity; ++k)
    args.push_back(b.CreateAlignedLoad(value, b.CreateGEP(scalar, function->getArg(static_cast<unsigned>(k)), i),
                                       llvm::Align(size_of(type))));
  Value* result = emit_operation(b, op, type, args, nullptr);
  b.CreateAlignedStore(result, b.CreateGEP(scalar, function->getArg(2), i), llvm::Align(size_of(type)));
  Value* next = b.CreateAdd(i, b.getInt64(std::max(lanes, 1u)));
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, function->getArg(3)), body, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
}

// What an object file wants from others.
std::vector<std::string> undefined_symbols(const llvm::MemoryBuffer& object) {
  auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(object.getMemBufferRef()));
  std::vector<std::string> names;
  for (const auto& symbol : file->symbols()) {
    auto flags = llvm::cantFail(symbol.getFlags());
    std::string name = llvm::cantFail(symbol.getName()).str();
    if ((flags & llvm::object::SymbolRef::SF_Undefined) && !name.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace

struct ArrayFunction::Impl {
  std::unique_ptr<llvm::orc::LLJIT> orc;
};

ArrayFunction::ArrayFunction(ir::CellOp op, ElementType type, unsigned lanes) : impl_(std::make_unique<Impl>()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto host = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  host.addFeatures({"-prefer-256-bit"});
  auto machine = llvm::cantFail(host.createTargetMachine());
  impl_->orc = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(host).create());
  llvm::LLVMContext context;
  llvm::Module module("function", context);
  module.setDataLayout(impl_->orc->getDataLayout());
  module.setTargetTriple(impl_->orc->getTargetTriple());
  emit_loop(module, op, type, lanes);
  if (lanes) module.getFunction("f")->addFnAttr("prefer-vector-width", "512");
  optimize(module, *machine);
  auto object = llvm::cantFail(llvm::orc::SimpleCompiler(*machine)(module));
  calls_ = undefined_symbols(*object);
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(impl_->orc->getDataLayout().getGlobalPrefix());
  impl_->orc->getMainJITDylib().addGenerator(llvm::cantFail(std::move(process)));
  llvm::cantFail(impl_->orc->addObjectFile(std::move(object)));
  call_ = llvm::cantFail(impl_->orc->lookup("f")).toPtr<void (*)(const void*, const void*, void*, std::int64_t)>();
}
ArrayFunction::~ArrayFunction() = default;
ArrayFunction::ArrayFunction(ArrayFunction&&) noexcept = default;

}  // namespace tap::backend::test
