// Addresses, accumulators and failures: shared by the emission of statements and cells.
#include "backend/llvm/emit_state.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

#include "backend/llvm/linear_index.h"
#include "support/check.h"

namespace tap::backend {

std::uint32_t StatementLines::number(const std::vector<Statement>& body, std::uint32_t next) {
  for (const Statement& statement : body) {
    line[&statement] = next++;
    if (const auto* loop = std::get_if<For>(&statement.node)) next = number(loop->body, next);
    if (const auto* guard = std::get_if<Guard>(&statement.node)) next = number(guard->body, next);
    if (const auto* section = std::get_if<Section>(&statement.node)) next = number(section->body, next);
  }
  return next;
}

void StatementLines::erase(const std::vector<Statement>& body) {
  for (const Statement& statement : body) {
    line.erase(&statement);
    if (const auto* loop = std::get_if<For>(&statement.node)) erase(loop->body);
    if (const auto* guard = std::get_if<Guard>(&statement.node)) erase(guard->body);
    if (const auto* section = std::get_if<Section>(&statement.node)) erase(section->body);
  }
}

llvm::DILocation* EmitState::location_of(const Statement& statement, llvm::DILocation* around) const {
  const auto found = lines->line.find(&statement);
  if (found == lines->line.end()) return around;
  return llvm::DILocation::get(b.getContext(), found->second, 0, lines->function);
}

using llvm::Value;

llvm::BasicBlock* EmitState::new_block(const char* name) {
  return llvm::BasicBlock::Create(b.getContext(), name, function);
}

// Index arithmetic does not wrap: the frontend proved that it fits in 64 bits. What adds 0 or multiplies by 1 is left out: it would
// be half of a kernel's instructions, and every pass would see it.
Value* EmitState::sum(Value* x, Value* y) {
  if (llvm::PatternMatch::match(x, llvm::PatternMatch::m_ZeroInt())) return y;
  return llvm::PatternMatch::match(y, llvm::PatternMatch::m_ZeroInt()) ? x : b.CreateNSWAdd(x, y);
}

Value* EmitState::product(Value* x, Value* y) {
  if (llvm::PatternMatch::match(x, llvm::PatternMatch::m_One())) return y;
  return llvm::PatternMatch::match(y, llvm::PatternMatch::m_One()) ? x : b.CreateNSWMul(x, y);
}

Value* EmitState::affine(const ir::AffineExpr& e) {
  Value* result = b.getInt64(0);
  for (std::size_t v = 0; v < e.coefficients.size(); ++v) {
    if (e.coefficients[v] == 0) continue;
    TAP_CHECK(variables[v], "a variable is used outside its loop");
    result = sum(result, product(variables[v], b.getInt64(e.coefficients[v])));
  }
  return sum(result, b.getInt64(e.offset));
}

// The array index is constant here, since the loops that it depends on are unrolled.
Value* EmitState::slot(std::uint32_t number) {
  const Slot& slot = kernel.slots[number];
  std::int64_t at = slot.at.offset;
  for (std::size_t v = 0; v < slot.at.coefficients.size(); ++v) at += slot.at.coefficients[v] * trips[v];
  return accumulators[slot.accumulator].at(static_cast<std::size_t>(at));
}

Value* EmitState::origin(std::uint32_t tensor, std::size_t axis) {
  const auto& local = kernel.tensors[tensor].local;
  return local ? affine(local->origin[axis]) : b.getInt64(0);
}

Value* EmitState::address(std::uint32_t tensor, const std::vector<Value*>& at) {
  LinearIndex offset;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    Value* stride = strides[tensor][axis];
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(stride);
    auto add = [&](Value* value, std::int64_t sign) {
      if (known) offset.add(value, sign * known->getSExtValue());
      else offset.add(b.CreateMul(value, stride), sign);
    };
    add(at[axis], 1);
    if (kernel.tensors[tensor].local) add(origin(tensor, axis), -1);
  }
  return offset.emit_address(b, memory_type(b.getContext(), kernel.tensors[tensor].type.element), bases[tensor]);
}

void EmitState::mark_no_alias(llvm::Instruction& access, std::uint32_t tensor) {
  access.setMetadata(llvm::LLVMContext::MD_alias_scope, scope[tensor]);
  access.setMetadata(llvm::LLVMContext::MD_noalias, noalias_scopes[tensor]);
}

Value* EmitState::load(std::uint32_t tensor, const std::vector<Value*>& at) {
  ElementType type = kernel.tensors[tensor].type.element;
  auto* load = b.CreateLoad(memory_type(b.getContext(), type), address(tensor, at));
  mark_no_alias(*load, tensor);
  return from_memory(b, load, type);
}

void EmitState::store(std::uint32_t tensor, const std::vector<Value*>& at, Value* value) {
  ElementType type = kernel.tensors[tensor].type.element;
  mark_no_alias(*b.CreateStore(to_memory(b, value, type), address(tensor, at)), tensor);
}

std::optional<FusedProduct> fused_product(const Kernel& kernel, const ir::CellNode& sum) {
  if (kernel.exact_arithmetic || sum.op != ir::CellOp::add) return {};
  if (sum.type != ElementType::f32 && sum.type != ElementType::f64) return {};
  for (std::size_t side : {0, 1}) {
    ir::CellId accumulator = sum.args[side], product = sum.args[1 - side];
    if (kernel.exprs[accumulator].op == ir::CellOp::argument && kernel.exprs[product].op == ir::CellOp::mul)
      return FusedProduct{accumulator, product};
  }
  return {};
}

// The tensor is identified by its operand number.
void EmitState::fail_if(Value* condition, KernelFailure why, const FailurePoint& failure_point) {
  const auto& operands = kernel.sections[section].operands;
  auto found = std::find(operands.begin(), operands.end(), failure_point.tensor);
  auto operand = static_cast<std::uint64_t>(found == operands.end() ? 0 : found - operands.begin());
  fail_if(condition, {b.getInt32(static_cast<std::uint32_t>(why)), b.getInt64(operand), b.getInt64(failure_point.axis),
                      b.CreateSExt(failure_point.value, b.getInt64Ty())});
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
  const SectionDims& dims = kernel.sections[section];
  for (std::size_t d = 0; d < dims.at.size(); ++d) {
    Value* at = variables[dims.at[d]];
    put(offsetof(KernelError, point) + 8 * d, at ? at : variables[dims.lo[d]]);
  }
  put(offsetof(KernelError, section), b.getInt64(section));
  auto [why, tensor, axis, value] = failure;
  put(offsetof(KernelError, tensor), tensor);
  put(offsetof(KernelError, axis), axis);
  put(offsetof(KernelError, value), value);
  b.CreateRet(why);
}

}  // namespace tap::backend
