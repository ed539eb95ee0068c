// Cells to LLVM: a DAG is evaluated once per node. What a lazy operation guards is evaluated in a branch if it could fail
// or read outside of its tensor, and without one otherwise, so that plain loops stay free of control flow.
#include <llvm/IR/IRBuilder.h>

#include "backend/emit_state.h"
#include "support/check.h"

namespace tap::backend {

using ir::CellId;
using ir::CellNode;
using ir::CellOp;
using llvm::Value;

CellEmitter::CellEmitter(EmitState& state) : s_(state), scopes_(1), harmless_(state.kernel.exprs.size(), -1) {}

Value* CellEmitter::operator()(CellId id) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto it = scope->find(id); it != scope->end()) return it->second;
  Value* value = compute(id);
  scopes_.back()[id] = value;
  return value;
}

Value* CellEmitter::compute(CellId id) {
  const CellNode& node = s_.kernel.exprs[id];
  auto& b = s_.b;
  switch (node.op) {
    case CellOp::constant: return emit_constant(b.getContext(), node.value);
    case CellOp::index:
      TAP_CHECK(s_.variables[node.attribute], "a variable is used outside of its loop");
      return s_.variables[node.attribute];
    case CellOp::argument:
      return b.CreateLoad(register_type(b.getContext(), node.type), s_.accumulators[node.attribute]);
    case CellOp::read: return read(s_.kernel.loads[node.attribute]);
    case CellOp::select: return select(node);
    case CellOp::logical_and:
    case CellOp::logical_or: return logical(node);
    case CellOp::cast: return emit_cast(b, (*this)(node.args[0]), s_.kernel.exprs[node.args[0]].type, node.type);
    default: break;
  }
  std::vector<Value*> args;
  for (CellId arg : node.args) args.push_back((*this)(arg));
  ElementType type = s_.kernel.exprs[node.args[0]].type;
  return emit_operation(b, node.op, type, args, [&](Value* condition, KernelFailure why, Value* value) {
    s_.fail_if(condition, why, {0, 0, value});
  });
}

template <class Then, class Else>
Value* CellEmitter::branch(Value* condition, llvm::Type* type, Then then_value, Else else_value) {
  auto& b = s_.b;
  llvm::BasicBlock* blocks[] = {s_.new_block("then"), s_.new_block("else"), s_.new_block("join")};
  b.CreateCondBr(condition, blocks[0], blocks[1]);
  Value* values[2];
  for (int side = 0; side < 2; ++side) {
    b.SetInsertPoint(blocks[side]);
    scopes_.emplace_back();
    values[side] = side == 0 ? then_value() : else_value();
    scopes_.pop_back();
    blocks[side] = b.GetInsertBlock();
    b.CreateBr(blocks[2]);
  }
  b.SetInsertPoint(blocks[2]);
  auto* phi = b.CreatePHI(type, 2);
  phi->addIncoming(values[0], blocks[0]);
  phi->addIncoming(values[1], blocks[1]);
  return phi;
}

Value* CellEmitter::read(const Load& load) {
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
    if (!c.checked) continue;
    // One unsigned comparison sees both ends.
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

Value* CellEmitter::logical(const CellNode& node) {
  auto& b = s_.b;
  bool is_and = node.op == CellOp::logical_and;
  Value* first = (*this)(node.args[0]);
  if (harmless(node.args[1])) {
    Value* second = (*this)(node.args[1]);
    return is_and ? b.CreateAnd(first, second) : b.CreateOr(first, second);
  }
  auto second = [&] { return (*this)(node.args[1]); };
  auto decided = [&]() -> Value* { return b.getInt1(!is_and); };
  if (is_and) return branch(first, b.getInt1Ty(), second, decided);
  return branch(first, b.getInt1Ty(), decided, second);
}

Value* CellEmitter::select(const CellNode& node) {
  Value* condition = (*this)(node.args[0]);
  if (harmless(node.args[1]) && harmless(node.args[2])) {
    Value* then_value = (*this)(node.args[1]);
    Value* else_value = (*this)(node.args[2]);
    return s_.b.CreateSelect(condition, then_value, else_value);
  }
  // What both sides need in any case comes before them, once; without that, nested choices would double at each level.
  std::vector<bool> in_then(s_.kernel.exprs.size()), in_else(s_.kernel.exprs.size());
  std::vector<CellId> order, ignored;
  needed(node.args[1], in_then, order);
  needed(node.args[2], in_else, ignored);
  for (CellId id : order)
    if (in_else[id.index()]) (*this)(id);
  return branch(
      condition, register_type(s_.b.getContext(), node.type), [&] { return (*this)(node.args[1]); },
      [&] { return (*this)(node.args[2]); });
}

// The cells that are evaluated whenever `id` is, arguments first.
void CellEmitter::needed(CellId id, std::vector<bool>& seen, std::vector<CellId>& order) {
  if (seen[id.index()]) return;
  seen[id.index()] = true;
  const CellNode& node = s_.kernel.exprs[id];
  std::size_t strict = ir::info(node.op).kind == ir::CellKind::lazy ? 1 : node.args.size();
  for (std::size_t a = 0; a < strict; ++a) needed(node.args[a], seen, order);
  if (node.op == CellOp::read)
    for (const Coordinate& c : s_.kernel.loads[node.attribute].at)
      if (c.data) needed(*c.data, seen, order);
  order.push_back(id);
}

bool CellEmitter::harmless(CellId id) {
  if (harmless_[id.index()] >= 0) return harmless_[id.index()] == 1;
  const CellNode& node = s_.kernel.exprs[id];
  bool result = harmless_here(node);
  for (CellId arg : node.args) result = result && harmless(arg);
  harmless_[id.index()] = result;
  return result;
}

bool CellEmitter::harmless_here(const CellNode& node) {
  const auto& exprs = s_.kernel.exprs;
  if (node.op == CellOp::read) {
    const Load& load = s_.kernel.loads[node.attribute];
    bool result = load.anywhere && (!load.fill || harmless(*load.fill));
    for (const Coordinate& c : load.at) result = result && (!c.data || harmless(*c.data));
    return result;
  }
  if (node.args.size() != 2) return true;
  const CellNode& second = exprs[node.args[1]];
  return !operation_may_fail(node.op, exprs[node.args[0]].type,
                             second.op == CellOp::constant ? &second.value : nullptr);
}

}  // namespace tap::backend
