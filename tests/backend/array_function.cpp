#include "tests/backend/array_function.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/llvm/emit_arithmetic.h"
#include "backend/llvm/loaded_object.h"
#include "backend/llvm/machine_code.h"
#include "backend/llvm/optimize.h"
#include "backend/llvm/start_llvm.h"
#include "backend/llvm/target.h"

namespace tap::backend::test {
namespace {

using llvm::Value;

// What an object file wants from others.
std::vector<std::string> undefined_symbols(const std::string& object) {
  auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "f")));
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
  LoadedObject object;
};

struct ArrayFunction::Code {
  int arity;
  ElementType from, to;
  unsigned lanes;
  std::function<Value*(llvm::IRBuilderBase&, const std::vector<Value*>&)> emit;

  llvm::Type* many(llvm::Type* type) const { return lanes ? llvm::FixedVectorType::get(type, lanes) : type; }
  void add_to(llvm::Module& module) const;
};

// for (i = 0; i < n; i += lanes) result[i] = op(x[i], y[i])
void ArrayFunction::Code::add_to(llvm::Module& module) const {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Type* pointer = b.getPtrTy();
  auto* signature = llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, pointer, b.getInt64Ty()}, false);
  auto* function = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, "f", module);
  for (unsigned k : {0u, 1u, 2u}) function->addParamAttr(k, llvm::Attribute::NoAlias);
  function->addFnAttr("prefer-vector-width", "512");
  auto* entry = llvm::BasicBlock::Create(context, "entry", function);
  auto* body = llvm::BasicBlock::Create(context, "body", function);
  auto* done = llvm::BasicBlock::Create(context, "done", function);
  b.SetInsertPoint(entry);
  b.CreateCondBr(b.CreateICmpSGT(function->getArg(3), b.getInt64(0)), body, done);
  b.SetInsertPoint(body);
  auto* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(b.getInt64(0), entry);
  llvm::Type *source = memory_type(context, from), *target = memory_type(context, to);
  std::vector<Value*> args;
  for (int k = 0; k < arity; ++k) {
    Value* at = b.CreateGEP(source, function->getArg(static_cast<unsigned>(k)), i);
    args.push_back(from_memory(b, b.CreateAlignedLoad(many(source), at, llvm::Align(size_of(from))), from));
  }
  Value* result = to_memory(b, emit(b, args), to);
  b.CreateAlignedStore(result, b.CreateGEP(target, function->getArg(2), i), llvm::Align(size_of(to)));
  Value* next = b.CreateAdd(i, b.getInt64(std::max(lanes, 1u)));
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, function->getArg(3)), body, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
}

ArrayFunction::ArrayFunction(const Code& code) {
  InLlvm here;
  auto machine = machine_for(*target_named("native"));
  llvm::LLVMContext context;
  llvm::Module module("function", context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
  code.add_to(module);
  instructions_ = module.getFunction("f")->getInstructionCount();
  optimize(module, *machine);
  const std::string object = machine_code(module, *machine, CodeFile::object);
  calls_ = undefined_symbols(object);
  impl_ = std::make_unique<Impl>(Impl{LoadedObject(object)});
  call_ = reinterpret_cast<void (*)(const void*, const void*, void*, std::int64_t)>(
      const_cast<void*>(impl_->object.address_of("f")));
}

ArrayFunction::ArrayFunction(ir::CellOp op, ElementType type, unsigned lanes)
    : ArrayFunction(Code{ir::info(op).arity, type,
                         ir::info(op).result == ir::CellResult::boolean ? ElementType::boolean : type, lanes,
                         [op, type](llvm::IRBuilderBase& b, const std::vector<Value*>& args) {
                           return emit_operation(b, op, type, args, nullptr);
                         }}) {}

ArrayFunction ArrayFunction::cast(ElementType from, ElementType to, unsigned lanes) {
  return ArrayFunction(Code{1, from, to, lanes, [from, to](llvm::IRBuilderBase& b, const std::vector<Value*>& args) {
                              return emit_cast(b, args[0], from, to);
                            }});
}

ArrayFunction::~ArrayFunction() = default;
ArrayFunction::ArrayFunction(ArrayFunction&&) noexcept = default;

}  // namespace tap::backend::test
