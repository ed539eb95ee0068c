// Statements of the loop IR to LLVM IR. Accumulators are stack slots that LLVM turns into registers; loops are in the
// simplest form that its loop passes know.
#include "backend/emit_llvm.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "backend/emit_state.h"
#include "support/check.h"

namespace tap::backend {

using llvm::Value;

llvm::BasicBlock* EmitState::new_block(const char* name) {
  return llvm::BasicBlock::Create(b.getContext(), name, function);
}

// Index arithmetic does not wrap: the frontend proved that it fits in 64 bits.
Value* EmitState::affine(const ir::AffineExpr& e) {
  Value* sum = nullptr;
  for (std::size_t v = 0; v < e.coefficients.size(); ++v) {
    if (e.coefficients[v] == 0) continue;
    TAP_CHECK(variables[v], "a variable is used outside of its loop");
    Value* term = e.coefficients[v] == 1 ? variables[v] : b.CreateNSWMul(variables[v], b.getInt64(e.coefficients[v]));
    sum = sum ? b.CreateNSWAdd(sum, term) : term;
  }
  if (!sum) return b.getInt64(e.offset);
  return e.offset == 0 ? sum : b.CreateNSWAdd(sum, b.getInt64(e.offset));
}

Value* EmitState::address(std::uint32_t tensor, const std::vector<Value*>& at) {
  Value* offset = b.getInt64(0);
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    offset = b.CreateNSWAdd(offset, b.CreateNSWMul(at[axis], strides[tensor][axis]));
  return b.CreateGEP(memory_type(b.getContext(), kernel.tensors[tensor].type.element), bases[tensor], offset);
}

Value* EmitState::load(std::uint32_t tensor, const std::vector<Value*>& at) {
  ElementType type = kernel.tensors[tensor].type.element;
  auto* load = b.CreateLoad(memory_type(b.getContext(), type), address(tensor, at));
  load->setMetadata(llvm::LLVMContext::MD_alias_scope, scope[tensor]);
  load->setMetadata(llvm::LLVMContext::MD_noalias, elsewhere[tensor]);
  return from_memory(b, load, type);
}

void EmitState::store(std::uint32_t tensor, const std::vector<Value*>& at, Value* value) {
  ElementType type = kernel.tensors[tensor].type.element;
  auto* store = b.CreateStore(to_memory(b, value, type), address(tensor, at));
  store->setMetadata(llvm::LLVMContext::MD_alias_scope, scope[tensor]);
  store->setMetadata(llvm::LLVMContext::MD_noalias, elsewhere[tensor]);
}

void EmitState::fail_if(Value* condition, KernelFailure why, const Where& where) {
  fail_if(condition, {b.getInt32(static_cast<std::uint32_t>(why)), b.getInt64(where.tensor), b.getInt64(where.axis),
                      b.CreateSExt(where.value, b.getInt64Ty())});
}

void EmitState::fail_if(Value* condition, const Failure& failure) {
  llvm::BasicBlock* failed = attempt ? attempt->failed : new_block("failed");
  llvm::BasicBlock* next = new_block("next");
  llvm::BasicBlock* before = b.GetInsertBlock();
  b.CreateCondBr(condition, failed, next, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  if (attempt) {
    for (std::size_t k = 0; k < failure.size(); ++k) attempt->failure[k]->addIncoming(failure[k], before);
  } else {
    b.SetInsertPoint(failed);
    leave(failure);
  }
  b.SetInsertPoint(next);
}

void EmitState::leave(const Failure& failure) {
  auto put = [&](std::size_t offset, Value* value) {
    b.CreateStore(value, b.CreateConstGEP1_64(b.getInt8Ty(), error, offset));
  };
  for (std::size_t d = 0; d < kernel.dims; ++d) {
    Value* at = variables[kernel.at(d)];
    put(offsetof(KernelError, point) + 8 * d, at ? at : variables[kernel.lo(d)]);
  }
  auto [why, tensor, axis, value] = failure;
  put(offsetof(KernelError, tensor), tensor);
  put(offsetof(KernelError, axis), axis);
  put(offsetof(KernelError, value), value);
  b.CreateRet(why);
}

namespace {

class KernelEmitter {
 public:
  KernelEmitter(const Kernel& kernel, const std::string& symbol, llvm::Module& module);
  void run();

 private:
  void emit_arguments();
  void emit_scopes();
  void emit_accumulators();
  void emit(const std::vector<Statement>& body);
  void emit(const For& loop);
  void emit(const Guard& guard);
  void emit(const Let& let);
  void emit(const Assign& assign);
  void emit(const Store& store);
  Value* bound(const Bound& bound, bool lower);
  Value* tightest(const std::vector<Bound>& bounds, bool lower);
  Value* holds(const ir::Constraint& constraint);

  const Kernel& kernel_;
  llvm::IRBuilder<> b_;
  EmitState s_;
};

KernelEmitter::KernelEmitter(const Kernel& kernel, const std::string& symbol, llvm::Module& module)
    : kernel_(kernel), b_(module.getContext()), s_{kernel, b_} {
  llvm::Type* pointer = llvm::PointerType::getUnqual(module.getContext());
  auto* signature = llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer, pointer, pointer}, false);
  s_.function = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, symbol, module);
  s_.function->setDoesNotThrow();
  b_.SetInsertPoint(s_.new_block("entry"));
}

void KernelEmitter::run() {
  TAP_CHECK(kernel_.dims <= max_index_dims, "an index space has more dims than a kernel can report on");
  emit_arguments();
  emit_scopes();
  emit_accumulators();
  emit(kernel_.body);
  b_.CreateRet(b_.getInt32(0));
}

void KernelEmitter::emit_arguments() {
  Value* box = s_.function->getArg(0);
  Value* buffers = s_.function->getArg(1);
  Value* strides = s_.function->getArg(2);
  s_.error = s_.function->getArg(3);
  s_.variables.assign(kernel_.variables.size(), nullptr);
  for (std::size_t v = 0; v < 2 * kernel_.dims; ++v)
    s_.variables[v] =
        b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), box, v), kernel_.variables[v]);
  std::size_t next = 0;
  for (std::size_t t = 0; t < kernel_.tensors.size(); ++t) {
    s_.bases.push_back(b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), buffers, t)));
    s_.strides.emplace_back();
    for (std::size_t axis = 0; axis < kernel_.tensors[t].type.shape.size(); ++axis)
      s_.strides.back().push_back(
          b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), strides, next++)));
  }
}

// Results overlap neither operands nor each other, so each tensor's accesses form a scope of their own.
void KernelEmitter::emit_scopes() {
  llvm::MDBuilder builder(b_.getContext());
  llvm::MDNode* domain = builder.createAnonymousAliasScopeDomain();
  std::vector<llvm::Metadata*> scopes;
  for (std::size_t t = 0; t < kernel_.tensors.size(); ++t) scopes.push_back(builder.createAnonymousAliasScope(domain));
  for (std::size_t t = 0; t < kernel_.tensors.size(); ++t) {
    std::vector<llvm::Metadata*> others;
    for (std::size_t o = 0; o < scopes.size(); ++o)
      if (o != t) others.push_back(scopes[o]);
    s_.scope.push_back(llvm::MDNode::get(b_.getContext(), {scopes[t]}));
    s_.elsewhere.push_back(llvm::MDNode::get(b_.getContext(), others));
  }
}

void KernelEmitter::emit_accumulators() {
  for (ElementType type : kernel_.accumulators)
    s_.accumulators.push_back(b_.CreateAlloca(register_type(b_.getContext(), type)));
}

void KernelEmitter::emit(const std::vector<Statement>& body) {
  for (const Statement& statement : body) std::visit([&](const auto& node) { emit(node); }, statement.node);
}

Value* KernelEmitter::bound(const Bound& bound, bool lower) {
  Value* value = s_.affine(bound.expr);
  if (bound.divisor == 1) return value;
  Value* divisor = b_.getInt64(bound.divisor);
  Value* quotient = b_.CreateSDiv(value, divisor);
  Value* rest = b_.CreateSRem(value, divisor);
  Value* off = lower ? b_.CreateICmpSGT(rest, b_.getInt64(0)) : b_.CreateICmpSLT(rest, b_.getInt64(0));
  Value* by = b_.CreateZExt(off, b_.getInt64Ty());
  return lower ? b_.CreateAdd(quotient, by) : b_.CreateSub(quotient, by);
}

Value* KernelEmitter::tightest(const std::vector<Bound>& bounds, bool lower) {
  Value* result = nullptr;
  for (const Bound& one : bounds) {
    Value* value = bound(one, lower);
    result = result ? b_.CreateBinaryIntrinsic(lower ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, result, value)
                    : value;
  }
  return result;
}

void KernelEmitter::emit(const For& loop) {
  Value* lower = tightest(loop.lower, true);
  Value* upper = tightest(loop.upper, false);
  llvm::BasicBlock* body = s_.new_block("loop");
  llvm::BasicBlock* done = s_.new_block("done");
  llvm::BasicBlock* before = b_.GetInsertBlock();
  Value* first = loop.descending ? b_.CreateSub(upper, b_.getInt64(1)) : lower;
  b_.CreateCondBr(b_.CreateICmpSLT(lower, upper), body, done);
  b_.SetInsertPoint(body);
  auto* variable = b_.CreatePHI(b_.getInt64Ty(), 2, kernel_.variables[loop.variable]);
  variable->addIncoming(first, before);
  s_.variables[loop.variable] = variable;
  emit(loop.body);
  s_.variables[loop.variable] = nullptr;
  Value* next = b_.CreateNSWAdd(variable, b_.getInt64(loop.descending ? -1 : 1));
  Value* more = loop.descending ? b_.CreateICmpSGE(next, lower) : b_.CreateICmpSLT(next, upper);
  variable->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(more, body, done);
  b_.SetInsertPoint(done);
}

Value* KernelEmitter::holds(const ir::Constraint& constraint) {
  Value* value = s_.affine(constraint.expr);
  bool equality = constraint.comparison == ir::Comparison::equal_zero;
  return equality ? b_.CreateICmpEQ(value, b_.getInt64(0)) : b_.CreateICmpSGE(value, b_.getInt64(0));
}

void KernelEmitter::emit(const Guard& guard) {
  llvm::BasicBlock* done = s_.new_block("done");
  auto require = [&](Value* condition) {
    llvm::BasicBlock* next = s_.new_block("guarded");
    b_.CreateCondBr(condition, next, done);
    b_.SetInsertPoint(next);
  };
  for (const ir::Constraint& constraint : guard.conditions) require(holds(constraint));
  if (guard.cell) require(CellEmitter(s_, {*guard.cell})(*guard.cell));
  emit(guard.body);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void KernelEmitter::emit(const Let& let) { s_.variables[let.variable] = CellEmitter(s_, {let.value})(let.value); }

void KernelEmitter::emit(const Assign& assign) {
  CellEmitter cell(s_, assign.values);
  std::vector<Value*> values;
  for (ir::CellId value : assign.values) values.push_back(cell(value));
  for (std::size_t k = 0; k < values.size(); ++k) b_.CreateStore(values[k], s_.accumulators[assign.accumulators[k]]);
}

void KernelEmitter::emit(const Store& store) {
  std::vector<ir::CellId> roots;
  for (const auto& target : store.targets) roots.push_back(target.value);
  CellEmitter cell(s_, roots);
  std::vector<Value*> values;
  for (const auto& target : store.targets) values.push_back(cell(target.value));
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::vector<Value*> at;
    for (const ir::AffineExpr& e : store.targets[k].at) at.push_back(s_.affine(e));
    s_.store(store.targets[k].tensor, at, values[k]);
  }
}

}  // namespace

void emit(const Kernel& kernel, const std::string& symbol, llvm::Module& module) {
  KernelEmitter(kernel, symbol, module).run();
}

}  // namespace tap::backend
