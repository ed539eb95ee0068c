// Loops have the canonical form of LLVM's loop passes. Unrolled loops and lanes are straight-line code, in which
// computed values are reused.
#include "backend/llvm/emit_statements.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <span>
#include <utility>

#include "backend/llvm/emit_folds.h"
#include "backend/llvm/emit_lazy.h"
#include "backend/llvm/emit_straight.h"
#include "backend/llvm/emit_transposed.h"
#include "backend/llvm/lane_masks.h"
#include "backend/llvm/loop_forms.h"
#include "support/check.h"

namespace tap::backend {

using llvm::Value;

namespace {

class StatementEmitter {
 public:
  explicit StatementEmitter(EmitState& state) : kernel_(state.kernel), b_(state.b), s_(state) {}
  void emit(std::span<const Statement> body);

 private:
  void emit(const For& loop);
  void emit_serial(const For& loop);
  void emit_over_vectors(const For& loop);
  void emit_unrolled(const For& loop);
  void emit_lanes(const For& loop);
  void emit_across(const For& loop, const StoredAcross& across);
  void begin_turn(const For& loop, Value* lower, std::uint32_t trip);
  void end_turns(const For& loop);
  template <class Run>
  void in_lanes(const For& loop, Run run);
  void emit_straight(std::span<const Statement> body);
  void emit(const Guard& guard);
  void emit(const Define& define);
  void emit(const Let& let);
  void emit(const Assign& assign);
  void emit(const Store& store);
  void emit(const Prefetch& prefetch);
  void emit(const FoldLanes& fold);
  void emit_folded(const For& loop, std::size_t at);
  Value* accumulated(std::uint32_t slot);
  void emit(const Section& section);
  void forget_loads_of(const Store& store);
  std::pair<EmitState::Turn*, bool> turn(const For& loop, std::uint32_t trip);
  bool is_straight(const std::vector<std::uint32_t>& slots) const;
  std::uint32_t lanes_of_slot(std::uint32_t slot) const;
  Value* bound(const Bound& bound, bool lower);
  Value* tightest(const std::vector<Bound>& bounds, bool lower);
  Value* holds(const ir::Constraint& constraint);

  const Kernel& kernel_;
  llvm::IRBuilderBase& b_;
  EmitState& s_;
};

void StatementEmitter::emit(std::span<const Statement> body) {
  for (const Statement& statement : body) {
    llvm::DILocation* around = b_.getCurrentDebugLocation().get();
    if (s_.lines) b_.SetCurrentDebugLocation(s_.location_of(statement, around));
    std::visit([&](const auto& node) { emit(node); }, statement.node);
    if (s_.lines) b_.SetCurrentDebugLocation(around);
  }
  // Definitions of a block end with it.
  for (const Statement& statement : body) {
    if (const auto* define = std::get_if<Define>(&statement.node)) s_.variables[define->variable] = nullptr;
    if (const auto* let = std::get_if<Let>(&statement.node)) s_.variables[let->variable] = nullptr;
  }
}

Value* StatementEmitter::bound(const Bound& bound, bool lower) {
  Value* value = s_.affine(bound.expr);
  if (bound.divisor == 1) return value;
  Value* divisor = b_.getInt64(bound.divisor);
  Value* quotient = b_.CreateSDiv(value, divisor);
  Value* rest = b_.CreateSRem(value, divisor);
  Value* off = lower ? b_.CreateICmpSGT(rest, b_.getInt64(0)) : b_.CreateICmpSLT(rest, b_.getInt64(0));
  Value* by = b_.CreateZExt(off, b_.getInt64Ty());
  return lower ? b_.CreateAdd(quotient, by) : b_.CreateSub(quotient, by);
}

Value* StatementEmitter::tightest(const std::vector<Bound>& bounds, bool lower) {
  Value* result = nullptr;
  for (const Bound& one : bounds) {
    Value* value = bound(one, lower);
    result = result ? b_.CreateBinaryIntrinsic(lower ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, result, value)
                    : value;
  }
  return result;
}

void StatementEmitter::emit(const For& loop) {
  switch (loop.kind) {
    case LoopKind::serial: return emit_serial(loop);
    case LoopKind::unrolled: return emit_unrolled(loop);
    case LoopKind::lanes: return emit_lanes(loop);
  }
}

void StatementEmitter::emit_over_vectors(const For& loop) {
  For whole = loop;
  for (Bound& bound : whole.upper) bound.expr.offset -= loop.step - 1;
  std::get<For>(whole.body[0].node).upper.clear();
  if (s_.lines) s_.lines->number(whole.body, s_.lines->line.at(loop.body.data()));
  emit_serial(whole);
  if (s_.lines) s_.lines->erase(whole.body);
  Value *lower = tightest(loop.lower, true), *upper = tightest(loop.upper, false);
  Value* length = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateNSWSub(upper, lower), b_.getInt64(0));
  Value* rest = b_.CreateURem(length, b_.getInt64(static_cast<std::uint64_t>(loop.step)));
  llvm::BasicBlock *partial = s_.new_block("partial"), *done = s_.new_block("done");
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt64(0)), partial, done);
  b_.SetInsertPoint(partial);
  s_.variables[loop.variable] = b_.CreateNSWSub(upper, rest);
  emit(loop.body);
  s_.forget();
  s_.variables[loop.variable] = nullptr;
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void StatementEmitter::emit_serial(const For& loop) {
  if (is_over_vectors(loop)) return emit_over_vectors(loop);
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
  llvm::BranchInst* again = b_.CreateCondBr(more, body, done);
  if (is_step_of_full_tile(loop.body) || stores_lane_by_lane(*b_.GetInsertBlock())) forbid_unrolling(*again);
  b_.SetInsertPoint(done);
}

// Known values stay valid until a branch.
void StatementEmitter::emit_straight(std::span<const Statement> body) {
  bool outermost = !std::exchange(s_.straight, true);
  emit(body);
  s_.straight = !outermost;
  if (outermost) s_.forget();
}

// Returns the pass, and whether it is new.
std::pair<EmitState::Turn*, bool> StatementEmitter::turn(const For& loop, std::uint32_t trip) {
  std::vector<std::int64_t> versions;
  for (const auto* bounds : {&loop.lower, &loop.upper})
    for (const Bound& bound : *bounds)
      for (std::size_t v = 0; v < bound.expr.coefficients.size(); ++v)
        if (bound.expr.coefficients[v] != 0) versions.push_back(s_.versions[v]);
  auto [it, fresh] = s_.turns.try_emplace({&loop, std::move(versions), trip}, EmitState::Turn{});
  if (fresh) it->second.version = ++s_.last_version;
  return {&it->second, fresh};
}

void StatementEmitter::emit_unrolled(const For& loop) {
  if (const StoredAcross across = stored_across(s_, loop); across.lanes) return emit_across(loop, across);
  if (!s_.straight) s_.forget();
  if (const auto fold = fold_of_rows(kernel_, loop)) return emit_folded(loop, *fold);
  Value* lower = tightest(loop.lower, true);
  for (std::uint32_t trip = 0; trip < loop.count; ++trip) {
    begin_turn(loop, lower, trip);
    emit_straight(loop.body);
  }
  end_turns(loop);
}

void StatementEmitter::begin_turn(const For& loop, Value* lower, std::uint32_t trip) {
  s_.variables[loop.variable] = s_.sum(lower, b_.getInt64(trip));
  s_.trips[loop.variable] = trip;
  s_.versions[loop.variable] = turn(loop, trip).first->version;
}

void StatementEmitter::end_turns(const For& loop) {
  s_.variables[loop.variable] = nullptr;
  s_.trips[loop.variable] = s_.versions[loop.variable] = 0;
}

// Processes as many vectors at a time as each has lanes.
void StatementEmitter::emit_across(const For& loop, const StoredAcross& across) {
  const bool outermost = !std::exchange(s_.straight, true);
  if (outermost) s_.forget();
  Value* lower = tightest(loop.lower, true);
  for (std::uint32_t first = 0; first < loop.count; first += across.lanes->count) {
    std::vector<Value*> rows;
    for (std::uint32_t trip = first; trip < std::min(first + across.lanes->count, loop.count); ++trip) {
      begin_turn(loop, lower, trip);
      in_lanes(*across.lanes, [&] {
        StraightCells cell(s_);
        rows.push_back(cell.in_memory(*across.target, cell(across.target->value)));
      });
    }
    begin_turn(loop, lower, first);
    in_lanes(*across.lanes, [&] {
      StraightCells cells(s_);
      const bool square = rows.size() == across.lanes->count;  // a transpose takes fewer shuffles
      if (across.step && !square && cells.can_store_every(*across.step, rows.size()))
        cells.store_every(*across.target, *across.step, rows);
      else cells.store_across(*across.target, rows);
    });
  }
  end_turns(loop);
  forget_loads_of({{*across.target}});
  s_.straight = !outermost;
  if (outermost) s_.forget();
}

// Vectors with the same start share their values, also in another pass of an unrolled loop that does not move them.
template <class Run>
void StatementEmitter::in_lanes(const For& loop, Run run) {
  TAP_CHECK(!s_.lanes, "nested lanes");
  auto [vector, fresh] = turn(loop, 0);
  if (fresh) {
    vector->first = tightest(loop.lower, true);
    if (!loop.upper.empty()) {
      Value* end = tightest(loop.upper, false);
      vector->mask = s_.stores_under_masks ? lanes_before(b_, vector->first, end, loop.count)
                                           : compared_lanes_before(b_, vector->first, end, loop.count);
      vector->active = b_.CreateNSWSub(end, vector->first);
    }
  }
  s_.variables[loop.variable] = vector->first;
  s_.versions[loop.variable] = vector->version;
  s_.lanes = Lanes{loop.variable, loop.count, vector->mask, vector->active};
  run();
  s_.lanes.reset();
  s_.variables[loop.variable] = nullptr;
  s_.versions[loop.variable] = 0;
}

void StatementEmitter::emit_lanes(const For& loop) {
  if (!s_.straight) s_.forget();
  in_lanes(loop, [&] { emit_straight(loop.body); });
}

Value* StatementEmitter::holds(const ir::Constraint& constraint) {
  Value* value = s_.affine(constraint.expr);
  bool equality = constraint.comparison == ir::Comparison::equal_zero;
  return equality ? b_.CreateICmpEQ(value, b_.getInt64(0)) : b_.CreateICmpSGE(value, b_.getInt64(0));
}

void StatementEmitter::emit(const Guard& guard) {
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

void StatementEmitter::emit(const Define& define) {
  s_.forget();
  s_.variables[define.variable] = tightest(define.bounds, define.greatest);
}

void StatementEmitter::emit(const Let& let) {
  s_.forget();
  s_.variables[let.variable] = LazyCells(s_, {let.value})(let.value);
}

std::uint32_t StatementEmitter::lanes_of_slot(std::uint32_t slot) const {
  return kernel_.accumulators[kernel_.slots[slot].accumulator].lanes;
}

bool StatementEmitter::is_straight(const std::vector<std::uint32_t>& slots) const {
  return s_.straight || std::any_of(slots.begin(), slots.end(), [&](auto slot) { return lanes_of_slot(slot) > 1; });
}

// Idle lanes keep their values if all lanes are combined in the end, else they are free.
void StatementEmitter::emit(const Assign& assign) {
  std::vector<Value*> values;
  if (is_straight(assign.slots)) {
    StraightCells cell(s_);
    for (std::size_t k = 0; k < assign.values.size(); ++k) {
      Value* value = cell.splat(cell(assign.values[k]), lanes_of_slot(assign.slots[k]));
      if (s_.lanes && s_.lanes->mask && s_.folded[kernel_.slots[assign.slots[k]].accumulator]) {
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

void StatementEmitter::emit(const Store& store) {
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

// Mostly into the second cache: the first is for the current data.
void StatementEmitter::emit(const Prefetch& prefetch) {
  constexpr std::uint32_t to_read = 0, second = 2, first = 3, data = 1;
  std::vector<Value*> at;
  for (const ir::AffineExpr& e : prefetch.at) at.push_back(s_.affine(e));
  Value* address = s_.address(prefetch.tensor, at);
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                     {address, b_.getInt32(to_read), b_.getInt32(prefetch.near ? first : second), b_.getInt32(data)});
}

void StatementEmitter::forget_loads_of(const Store& store) {
  for (const Store::Target& target : store.targets)
    if (std::any_of(kernel_.loads.begin(), kernel_.loads.end(),
                    [&](const Load& load) { return load.tensor == target.tensor; }))
      return s_.forget();
}

Value* StatementEmitter::accumulated(std::uint32_t slot) {
  llvm::Type* one = register_type(b_.getContext(), kernel_.accumulators[kernel_.slots[slot].accumulator].type);
  return b_.CreateLoad(llvm::FixedVectorType::get(one, lanes_of_slot(slot)), s_.slot(slot));
}

void StatementEmitter::emit(const FoldLanes& fold) {
  std::vector<Value*> now;
  for (std::uint32_t slot : fold.from) now.push_back(accumulated(slot));
  now = folded(s_, fold, std::move(now));
  for (std::size_t k = 0; k < now.size(); ++k) b_.CreateStore(now[k], s_.slot(fold.to[k]));
}

// Each pass up to the fold, all folds together, then the rest of each pass.
void StatementEmitter::emit_folded(const For& loop, std::size_t at) {
  const auto& fold = std::get<FoldLanes>(loop.body[at].node);
  const std::span<const Statement> body(loop.body);
  Value* lower = tightest(loop.lower, true);
  std::vector<Value*> rows;
  for (std::uint32_t trip = 0; trip < loop.count; ++trip) {
    begin_turn(loop, lower, trip);
    emit_straight(body.first(at));
    rows.push_back(accumulated(fold.from[0]));
  }
  rows = folded_together(s_, fold, rows);
  for (std::uint32_t trip = 0; trip < loop.count; ++trip) {
    begin_turn(loop, lower, trip);
    b_.CreateStore(rows[trip], s_.slot(fold.to[0]));
    emit_straight(body.subspan(at + 1));
  }
  end_turns(loop);
}

void StatementEmitter::emit(const Section& section) {
  std::uint32_t outer = std::exchange(s_.section, section.section);
  emit(section.body);
  s_.section = outer;
}

}  // namespace

void emit_statements(EmitState& state, const std::vector<Statement>& body) { StatementEmitter(state).emit(body); }

}  // namespace tap::backend
