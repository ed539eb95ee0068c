// Emits cells as LLVM IR, each node of the DAG once. An operand that a lazy operation guards is evaluated in a branch
// if it could fail or read out of bounds, and unconditionally otherwise, so that plain loops have no control flow.
// Cells that several branches need come before them (cell_placement.h).
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include "backend/llvm/emit_lazy.h"
#include "support/check.h"

namespace tap::backend {

using ir::CellId;
using ir::CellNode;
using ir::CellOp;
using llvm::Value;

LazyCells::LazyCells(EmitState& state, const std::vector<CellId>& roots)
    : s_(state), placement_(state.kernel, roots), scopes_(1) {}

Value* LazyCells::operator()(CellId id) {
  if (Value* value = find(id)) return value;
  int depth = placement_[id].depth;
  emit_at(depth < 0 ? scopes_.size() - 1 : static_cast<std::size_t>(depth), id);
  return find(id);
}

// Null if not yet computed. If the cell was tried and failed, the failure is raised here.
Value* LazyCells::find(CellId id) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (auto it = scope->known.find(id); it != scope->known.end()) return it->second;
    if (auto it = scope->tried.find(id); it != scope->tried.end()) {
      Tried tried = it->second;
      s_.fail_if(tried.has_failed, tried.failure);
      return scopes_.back().known[id] = tried.value;
    }
  }
  return nullptr;
}

// A scope stays open until its cells are emitted, so an outer scope can be continued from inside an inner one.
void LazyCells::emit_at(std::size_t depth, CellId id) {
  TAP_CHECK(depth < scopes_.size(), "a cell is used out of scope");
  scopes_.back().end = s_.b.GetInsertBlock();
  auto first_inner = scopes_.begin() + static_cast<std::ptrdiff_t>(depth) + 1;
  std::vector<Scope> inner(std::make_move_iterator(first_inner), std::make_move_iterator(scopes_.end()));
  scopes_.erase(first_inner, scopes_.end());
  continue_in_block();
  if (placement_[id].tried) {
    attempt(id);
  } else {
    Value* value = compute(id);
    scopes_.back().known[id] = value;
  }
  scopes_.back().end = s_.b.GetInsertBlock();
  std::move(inner.begin(), inner.end(), std::back_inserter(scopes_));
  continue_in_block();
}

void LazyCells::continue_in_block() {
  s_.b.SetInsertPoint(scopes_.back().end);
  s_.attempt = scopes_.back().attempt;
}

LazyCells::Emitted LazyCells::inside(llvm::BasicBlock* first, EmitState::Attempt* attempt, const Emit& emit) {
  scopes_.back().end = s_.b.GetInsertBlock();
  scopes_.push_back({first, attempt});
  continue_in_block();
  Emitted emitted{emit(), nullptr};
  emitted.end = s_.b.GetInsertBlock();
  scopes_.pop_back();
  continue_in_block();
  return emitted;
}

// The value and the failure; only one is meaningful.
void LazyCells::attempt(CellId id) {
  auto& b = s_.b;
  EmitState::Attempt attempt{s_.new_block("failed")};
  b.SetInsertPoint(attempt.failed);
  llvm::Type* types[] = {b.getInt32Ty(), b.getInt64Ty(), b.getInt64Ty(), b.getInt64Ty()};
  for (std::size_t k = 0; k < attempt.failure.size(); ++k) attempt.failure[k] = b.CreatePHI(types[k], 1);
  continue_in_block();
  llvm::BasicBlock* first = s_.new_block("try");
  Emitted emitted = inside(first, &attempt, [&] { return compute(id); });
  b.CreateBr(first);
  b.SetInsertPoint(emitted.end);
  if (attempt.failure[0]->getNumIncomingValues() == 0) {  // it cannot fail after all, because of constant operands
    attempt.failed->eraseFromParent();
    scopes_.back().known[id] = emitted.value;
    return;
  }
  llvm::BasicBlock* done = s_.new_block("tried");
  b.CreateBr(done);
  b.SetInsertPoint(attempt.failed);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  auto either = [&](Value* succeeded, Value* failed) {
    auto* phi = b.CreatePHI(succeeded->getType(), 2);
    phi->addIncoming(succeeded, emitted.end);
    phi->addIncoming(failed, attempt.failed);
    return phi;
  };
  Tried tried;
  tried.value = either(emitted.value, llvm::Constant::getNullValue(emitted.value->getType()));
  for (std::size_t k = 0; k < attempt.failure.size(); ++k)
    tried.failure[k] = either(llvm::Constant::getNullValue(types[k]), attempt.failure[k]);
  tried.has_failed = b.CreateICmpNE(tried.failure[0], b.getInt32(0));
  scopes_.back().tried[id] = tried;
}

Value* LazyCells::compute(CellId id) {
  const CellNode& node = s_.kernel.exprs[id];
  auto& b = s_.b;
  switch (node.op) {
    case CellOp::constant: return emit_constant(b.getContext(), node.value);
    case CellOp::index:
      TAP_CHECK(s_.variables[node.attribute], "a variable is used outside its loop");
      return s_.variables[node.attribute];
    case CellOp::argument: return b.CreateLoad(register_type(b.getContext(), node.type), s_.slot(node.attribute));
    case CellOp::read: return read(s_.kernel.loads[node.attribute]);
    case CellOp::select: return select(node);
    case CellOp::logical_and:
    case CellOp::logical_or: return logical(node);
    case CellOp::cast: return emit_cast(b, (*this)(node.args[0]), s_.kernel.exprs[node.args[0]].type, node.type);
    default: break;
  }
  if (auto fused = fused_product(s_.kernel, node)) {
    const CellNode& product = s_.kernel.exprs[fused->product];
    std::vector<Value*> args{(*this)(product.args[0]), (*this)(product.args[1]), (*this)(fused->accumulator)};
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {args[0]->getType()}, args);
  }
  std::vector<Value*> args;
  for (CellId arg : node.args) args.push_back((*this)(arg));
  ElementType type = s_.kernel.exprs[node.args[0]].type;
  return emit_operation(b, node.op, type, args, [&](Value* condition, KernelFailure why, Value* value) {
    s_.fail_if(condition, why, {0, 0, value});
  });
}

// Emits the branch last, after the cells that its sides need from outside.
Value* LazyCells::branch(Value* condition, llvm::Type* type, const Emit& then_value, const Emit& else_value) {
  auto& b = s_.b;
  llvm::BasicBlock* then_block = s_.new_block("then");
  Emitted then_side = inside(then_block, s_.attempt, then_value);
  llvm::BasicBlock* else_block = s_.new_block("else");
  Emitted else_side = inside(else_block, s_.attempt, else_value);
  b.CreateCondBr(condition, then_block, else_block);
  llvm::BasicBlock* join = s_.new_block("join");
  for (const Emitted& side : {then_side, else_side}) {
    b.SetInsertPoint(side.end);
    b.CreateBr(join);
  }
  b.SetInsertPoint(join);
  auto* phi = b.CreatePHI(type, 2);
  for (const Emitted& side : {then_side, else_side}) phi->addIncoming(side.value, side.end);
  return phi;
}

Value* LazyCells::read(const Load& load) {
  auto& b = s_.b;
  const Shape& shape = s_.kernel.tensors[load.tensor].type.shape;
  std::vector<Value*> at;
  Value* outside = nullptr;
  for (std::size_t axis = 0; axis < load.at.size(); ++axis) {
    const Coordinate& c = load.at[axis];
    if (c.data) {
      at.push_back(emit_cast(b, (*this)(*c.data), s_.kernel.exprs[*c.data].type, ElementType::i64));
    } else {
      at.push_back(s_.affine(c.affine));
    }
    // An attempt may run outside the branch in which the coordinate was proved to be in bounds.
    if (!c.checked && (load.anywhere || !s_.attempt)) continue;
    // One unsigned comparison tests both ends.
    Value* beyond = b.CreateICmpUGE(at.back(), b.getInt64(static_cast<std::uint64_t>(shape[axis])));
    if (load.fill) {
      outside = outside ? b.CreateOr(outside, beyond) : beyond;
    } else {
      s_.fail_if(beyond, KernelFailure::index_out_of_range, {load.tensor, axis, at.back()});
    }
  }
  if (!outside) return s_.load(load.tensor, at);
  llvm::Type* type = register_type(b.getContext(), s_.kernel.tensors[load.tensor].type.element);
  return branch(
      outside, type, [&] { return (*this)(*load.fill); }, [&] { return s_.load(load.tensor, at); });
}

Value* LazyCells::logical(const CellNode& node) {
  auto& b = s_.b;
  bool is_and = node.op == CellOp::logical_and;
  Value* first = (*this)(node.args[0]);
  if (placement_.harmless(node.args[1])) {
    Value* second = (*this)(node.args[1]);
    return is_and ? b.CreateAnd(first, second) : b.CreateOr(first, second);
  }
  auto second = [&] { return (*this)(node.args[1]); };
  auto decided = [&]() -> Value* { return b.getInt1(!is_and); };
  if (is_and) return branch(first, b.getInt1Ty(), second, decided);
  return branch(first, b.getInt1Ty(), decided, second);
}

Value* LazyCells::select(const CellNode& node) {
  Value* condition = (*this)(node.args[0]);
  if (placement_.harmless(node.args[1]) && placement_.harmless(node.args[2])) {
    Value* then_value = (*this)(node.args[1]);
    Value* else_value = (*this)(node.args[2]);
    return s_.b.CreateSelect(condition, then_value, else_value);
  }
  return branch(
      condition, register_type(s_.b.getContext(), node.type), [&] { return (*this)(node.args[1]); },
      [&] { return (*this)(node.args[2]); });
}

}  // namespace tap::backend
