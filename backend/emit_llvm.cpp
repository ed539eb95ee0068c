// Statements of the loop IR to LLVM IR. Accumulators are stack slots that LLVM turns into registers; loops are in the
// simplest form that its loop passes know.
#include "backend/emit_llvm.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "backend/emit_lazy.h"
#include "backend/emit_straight.h"
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

// Which one of an array is a number by now: loops that it depends on are unrolled.
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
  Value* offset = b.getInt64(0);
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    Value* from_origin = kernel.tensors[tensor].local ? b.CreateNSWSub(at[axis], origin(tensor, axis)) : at[axis];
    offset = b.CreateNSWAdd(offset, b.CreateNSWMul(from_origin, strides[tensor][axis]));
  }
  return b.CreateGEP(memory_type(b.getContext(), kernel.tensors[tensor].type.element), bases[tensor], offset);
}

void EmitState::keep_apart(llvm::Instruction& access, std::uint32_t tensor) {
  access.setMetadata(llvm::LLVMContext::MD_alias_scope, scope[tensor]);
  access.setMetadata(llvm::LLVMContext::MD_noalias, elsewhere[tensor]);
}

Value* EmitState::load(std::uint32_t tensor, const std::vector<Value*>& at) {
  ElementType type = kernel.tensors[tensor].type.element;
  auto* load = b.CreateLoad(memory_type(b.getContext(), type), address(tensor, at));
  keep_apart(*load, tensor);
  return from_memory(b, load, type);
}

void EmitState::store(std::uint32_t tensor, const std::vector<Value*>& at, Value* value) {
  ElementType type = kernel.tensors[tensor].type.element;
  keep_apart(*b.CreateStore(to_memory(b, value, type), address(tensor, at)), tensor);
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

namespace {

class KernelEmitter {
 public:
  KernelEmitter(const Kernel& kernel, const std::string& symbol, llvm::Module& module);
  void run();

 private:
  void emit_arguments();
  void emit_cut(Value* first_tile, Value* end_tile);
  void emit_tensors(Value* buffers, Value* strides, Value* scratch);
  void emit_scopes();
  void emit_accumulators();
  void emit(const std::vector<Statement>& body);
  void emit(const For& loop);
  void emit_serial(const For& loop);
  void emit_unrolled(const For& loop);
  void emit_lanes(const For& loop);
  void emit_straight(const std::vector<Statement>& body);
  void emit(const Guard& guard);
  void emit(const Define& define);
  void emit(const Let& let);
  void emit(const Assign& assign);
  void emit(const Store& store);
  void emit(const FoldLanes& fold);
  void emit(const Section& section);
  void forget_loads_of(const Store& store);
  std::pair<EmitState::Turn*, bool> turn(const For& loop, std::uint32_t trip);
  Value* lane_mask(Value* first, Value* upper, std::uint32_t lanes);
  bool is_straight(const std::vector<std::uint32_t>& slots) const;
  std::uint32_t lanes_of_slot(std::uint32_t slot) const;
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
  llvm::Type* number = b_.getInt64Ty();
  auto* signature =
      llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer, pointer, pointer, number, number, pointer}, false);
  s_.function = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, symbol, module);
  s_.function->setDoesNotThrow();
  b_.SetInsertPoint(s_.new_block("entry"));
}

void KernelEmitter::run() {
  for (const SectionDims& section : kernel_.sections)
    TAP_CHECK(section.at.size() <= max_index_dims, "an index space has more dims than a kernel can report on");
  s_.facts.resize(kernel_.exprs.size());
  s_.trips.assign(kernel_.variables.size(), 0);
  s_.versions.assign(kernel_.variables.size(), 0);
  emit_arguments();
  emit_scopes();
  emit_accumulators();
  emit(kernel_.body);
  b_.CreateRet(b_.getInt32(0));
}

void KernelEmitter::emit_arguments() {
  auto argument = [&](unsigned n) { return s_.function->getArg(n); };
  s_.error = argument(6);
  s_.variables.assign(kernel_.variables.size(), nullptr);
  for (std::size_t v = 0; v < 2 * kernel_.dims; ++v)
    s_.variables[v] =
        b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), argument(0), v), kernel_.variables[v]);
  if (kernel_.cut) emit_cut(argument(4), argument(5));
  emit_tensors(argument(1), argument(2), argument(3));
}

// Of the box, the tiles that this call is asked for.
void KernelEmitter::emit_cut(Value* first_tile, Value* end_tile) {
  Value*& lo = s_.variables[kernel_.lo(*kernel_.cut)];
  Value*& hi = s_.variables[kernel_.hi(*kernel_.cut)];
  auto from_lo = [&](Value* tile) { return b_.CreateNSWAdd(lo, b_.CreateNSWMul(tile, b_.getInt64(kernel_.grain))); };
  hi = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, hi, from_lo(end_tile));
  lo = from_lo(first_tile);
}

void KernelEmitter::emit_tensors(Value* buffers, Value* strides, Value* scratch) {
  std::size_t next = 0;
  for (std::uint32_t t = 0; t < kernel_.tensors.size(); ++t) {
    const TensorArgument& tensor = kernel_.tensors[t];
    s_.strides.emplace_back();
    if (tensor.local) {
      s_.bases.push_back(b_.CreateConstGEP1_64(b_.getInt8Ty(), scratch, scratch_offset(kernel_, t)));
      for (std::int64_t stride : row_major_strides(tensor.local->extents))
        s_.strides.back().push_back(b_.getInt64(static_cast<std::uint64_t>(stride)));
      continue;
    }
    s_.bases.push_back(b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), buffers, t)));
    std::size_t rank = tensor.type.shape.size();
    for (std::size_t axis = 0; axis < rank; ++axis, ++next) {
      Value* stride = b_.getInt64(1);
      if (axis + 1 < rank)
        stride = b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), strides, next));
      s_.strides.back().push_back(stride);
    }
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
  for (const Accumulator& a : kernel_.accumulators) {
    llvm::Type* type = register_type(b_.getContext(), a.type);
    if (a.lanes > 1) type = llvm::FixedVectorType::get(type, a.lanes);
    s_.accumulators.emplace_back();
    for (std::uint32_t k = 0; k < a.count; ++k) s_.accumulators.back().push_back(b_.CreateAlloca(type));
  }
}

void KernelEmitter::emit(const std::vector<Statement>& body) {
  for (const Statement& statement : body) std::visit([&](const auto& node) { emit(node); }, statement.node);
  // What a block defines ends with it.
  for (const Statement& statement : body) {
    if (const auto* define = std::get_if<Define>(&statement.node)) s_.variables[define->variable] = nullptr;
    if (const auto* let = std::get_if<Let>(&statement.node)) s_.variables[let->variable] = nullptr;
  }
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
  switch (loop.kind) {
    case LoopKind::serial: return emit_serial(loop);
    case LoopKind::unrolled: return emit_unrolled(loop);
    case LoopKind::lanes: return emit_lanes(loop);
  }
}

void KernelEmitter::emit_serial(const For& loop) {
  s_.forget();
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
  s_.forget();
  s_.variables[loop.variable] = nullptr;
  Value* next = b_.CreateNSWAdd(variable, b_.getInt64(static_cast<std::uint64_t>(loop.descending ? -1 : loop.step)));
  Value* more = loop.descending ? b_.CreateICmpSGE(next, lower) : b_.CreateICmpSLT(next, upper);
  variable->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(more, body, done);
  b_.SetInsertPoint(done);
}

// What is known stays known as long as no branch comes between.
void KernelEmitter::emit_straight(const std::vector<Statement>& body) {
  bool outermost = !std::exchange(s_.straight, true);
  emit(body);
  s_.straight = !outermost;
  if (outermost) s_.forget();
}

// Unless it was there already, `true`.
std::pair<EmitState::Turn*, bool> KernelEmitter::turn(const For& loop, std::uint32_t trip) {
  std::vector<std::int64_t> versions;
  for (const auto* bounds : {&loop.lower, &loop.upper})
    for (const Bound& bound : *bounds)
      for (std::size_t v = 0; v < bound.expr.coefficients.size(); ++v)
        if (bound.expr.coefficients[v] != 0) versions.push_back(s_.versions[v]);
  auto [it, fresh] = s_.turns.try_emplace({&loop, std::move(versions), trip}, EmitState::Turn{});
  if (fresh) it->second.version = ++s_.last_version;
  return {&it->second, fresh};
}

void KernelEmitter::emit_unrolled(const For& loop) {
  if (!s_.straight) s_.forget();
  Value* lower = tightest(loop.lower, true);
  for (std::uint32_t trip = 0; trip < loop.count; ++trip) {
    s_.variables[loop.variable] = trip == 0 ? lower : b_.CreateNSWAdd(lower, b_.getInt64(trip));
    s_.trips[loop.variable] = trip;
    s_.versions[loop.variable] = turn(loop, trip).first->version;
    emit_straight(loop.body);
  }
  s_.variables[loop.variable] = nullptr;
  s_.trips[loop.variable] = s_.versions[loop.variable] = 0;
}

// The lanes before `upper`. Coordinates may be negative, so how many are left is what is compared, in numbers so narrow
// that they fit into one vector.
Value* KernelEmitter::lane_mask(Value* first, Value* upper, std::uint32_t lanes) {
  Value* left = b_.CreateNSWSub(upper, first);
  left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, b_.getInt64(0));
  left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, b_.getInt64(lanes));
  llvm::Type* number = b_.getIntNTy(lanes < 256 ? std::clamp(512 / lanes, 8u, 64u) : 32);
  std::vector<llvm::Constant*> numbers;
  for (std::uint32_t k = 0; k < lanes; ++k) numbers.push_back(llvm::ConstantInt::get(number, k));
  return b_.CreateICmpULT(llvm::ConstantVector::get(numbers),
                          b_.CreateVectorSplat(lanes, b_.CreateTrunc(left, number)));
}

// Vectors that begin at the same place are one, also if an unrolled loop that does not move them comes by again; then what
// is known of their cells holds still.
void KernelEmitter::emit_lanes(const For& loop) {
  TAP_CHECK(!s_.lanes, "lanes inside of lanes");
  if (!s_.straight) s_.forget();
  auto [vector, fresh] = turn(loop, 0);
  if (fresh) {
    vector->first = tightest(loop.lower, true);
    if (!loop.upper.empty()) vector->mask = lane_mask(vector->first, tightest(loop.upper, false), loop.count);
  }
  s_.variables[loop.variable] = vector->first;
  s_.versions[loop.variable] = vector->version;
  s_.lanes = Lanes{loop.variable, loop.count, vector->mask};
  emit_straight(loop.body);
  s_.lanes.reset();
  s_.variables[loop.variable] = nullptr;
  s_.versions[loop.variable] = 0;
}

Value* KernelEmitter::holds(const ir::Constraint& constraint) {
  Value* value = s_.affine(constraint.expr);
  bool equality = constraint.comparison == ir::Comparison::equal_zero;
  return equality ? b_.CreateICmpEQ(value, b_.getInt64(0)) : b_.CreateICmpSGE(value, b_.getInt64(0));
}

void KernelEmitter::emit(const Guard& guard) {
  s_.forget();
  llvm::BasicBlock* done = s_.new_block("done");
  auto require = [&](Value* condition) {
    llvm::BasicBlock* next = s_.new_block("guarded");
    b_.CreateCondBr(condition, next, done);
    b_.SetInsertPoint(next);
  };
  for (const ir::Constraint& constraint : guard.conditions) require(holds(constraint));
  if (guard.cell) require(LazyCells(s_, {*guard.cell})(*guard.cell));
  emit(guard.body);
  s_.forget();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void KernelEmitter::emit(const Define& define) {
  s_.forget();
  s_.variables[define.variable] = tightest(define.bounds, define.greatest);
}

void KernelEmitter::emit(const Let& let) {
  s_.forget();
  s_.variables[let.variable] = LazyCells(s_, {let.value})(let.value);
}

std::uint32_t KernelEmitter::lanes_of_slot(std::uint32_t slot) const {
  return kernel_.accumulators[kernel_.slots[slot].accumulator].lanes;
}

bool KernelEmitter::is_straight(const std::vector<std::uint32_t>& slots) const {
  return s_.straight || std::any_of(slots.begin(), slots.end(), [&](auto slot) { return lanes_of_slot(slot) > 1; });
}

// Lanes that do nothing keep what they have.
void KernelEmitter::emit(const Assign& assign) {
  std::vector<Value*> values;
  if (is_straight(assign.slots)) {
    StraightCells cell(s_);
    for (std::size_t k = 0; k < assign.values.size(); ++k) {
      Value* value = cell.splat(cell(assign.values[k]), lanes_of_slot(assign.slots[k]));
      if (s_.lanes && s_.lanes->mask) {
        Value* old = b_.CreateLoad(value->getType(), s_.slot(assign.slots[k]));
        value = b_.CreateSelect(s_.lanes->mask, value, old);
      }
      values.push_back(value);
    }
  } else {
    LazyCells cell(s_, assign.values);
    for (ir::CellId value : assign.values) values.push_back(cell(value));
  }
  for (std::size_t k = 0; k < values.size(); ++k) b_.CreateStore(values[k], s_.slot(assign.slots[k]));
}

void KernelEmitter::emit(const Store& store) {
  std::vector<ir::CellId> roots;
  for (const auto& target : store.targets) roots.push_back(target.value);
  std::vector<Value*> values;
  if (s_.straight) {
    StraightCells cell(s_);
    for (ir::CellId root : roots) values.push_back(cell(root));
    for (std::size_t k = 0; k < values.size(); ++k) cell.store(store.targets[k], values[k]);
    return forget_loads_of(store);
  }
  LazyCells cell(s_, roots);
  for (ir::CellId root : roots) values.push_back(cell(root));
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::vector<Value*> at;
    for (const ir::AffineExpr& e : store.targets[k].at) at.push_back(s_.affine(e));
    s_.store(store.targets[k].tensor, at, values[k]);
  }
}

void KernelEmitter::forget_loads_of(const Store& store) {
  for (const Store::Target& target : store.targets)
    if (std::any_of(kernel_.loads.begin(), kernel_.loads.end(),
                    [&](const Load& load) { return load.tensor == target.tensor; }))
      return s_.forget();
}

void KernelEmitter::emit(const FoldLanes& fold) {
  std::vector<Value*> now;
  for (std::uint32_t slot : fold.from) {
    llvm::Type* one = register_type(b_.getContext(), kernel_.accumulators[kernel_.slots[slot].accumulator].type);
    now.push_back(b_.CreateLoad(llvm::FixedVectorType::get(one, lanes_of_slot(slot)), s_.slot(slot)));
  }
  auto part = [&](Value* v, std::uint32_t first, std::uint32_t count) -> Value* {
    if (count == 1) return b_.CreateExtractElement(v, first);
    std::vector<int> which(count);
    std::iota(which.begin(), which.end(), static_cast<int>(first));
    return b_.CreateShuffleVector(v, which);
  };
  for (std::uint32_t lanes = lanes_of_slot(fold.from[0]) / 2; lanes > 0; lanes /= 2) {
    std::map<std::uint32_t, Value*> slots;
    for (std::size_t k = 0; k < now.size(); ++k) {
      slots[fold.first[k]] = part(now[k], 0, lanes);
      slots[fold.second[k]] = part(now[k], lanes, lanes);
    }
    StraightCells cell(s_, std::move(slots));
    for (std::size_t k = 0; k < now.size(); ++k) now[k] = cell.splat(cell(fold.values[k]), lanes);
  }
  for (std::size_t k = 0; k < now.size(); ++k) b_.CreateStore(now[k], s_.slot(fold.to[k]));
}

void KernelEmitter::emit(const Section& section) {
  std::uint32_t outer = std::exchange(s_.section, section.section);
  emit(section.body);
  s_.section = outer;
}

}  // namespace

void emit(const Kernel& kernel, const std::string& symbol, llvm::Module& module) {
  KernelEmitter(kernel, symbol, module).run();
}

}  // namespace tap::backend
