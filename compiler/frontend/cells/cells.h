// Cell expressions: from syntax to typed cells of a Frame. Reductions inside an expression become separate operations
// ("hoisted"), operators applied to cells are inlined, literals take the type of their context.
#pragma once

#include <algorithm>

#include "compiler/frontend/elaborate/elaboration.h"
#include "compiler/frontend/elaborate/frame.h"

namespace tap {

class BodyBuilder;

inline std::string type_text(ElementType type) { return std::string(name_of(type)); }

class CellElaborator {
 public:
  // `body` is null inside a monoid, which has no tensors.
  CellElaborator(Elaboration& elaboration, BodyBuilder* body, IndexSpace& space, std::string label)
      : elaboration_(elaboration), body_(body), space_(space), label_(std::move(label)) {}

  // May return a literal without a cell if `expected` is empty.
  Cell elaborate(const Env& env, ast::ExprId id, Frame& frame, std::optional<ElementType> expected);
  // Always a cell: a literal without context is i64, or an error for floats.
  Cell typed(const Env& env, ast::ExprId id, Frame& frame, std::optional<ElementType> expected);
  // A cell of exactly this type, or an error that shows the cast. `why` is the second label.
  ir::CellId of_type(const Env& env, ast::ExprId id, Frame& frame, ElementType type, Span why,
                     const std::string& why_text);

  // Several values at once: (a, b), `if c then b else a` on states, `let … in (…)`. One cell per type.
  std::vector<ir::CellId> tuple(const Env& env, ast::ExprId id, Frame& frame, const std::vector<ElementType>& types,
                                Span why);

  // The scope of a reduction's operand; traverses and solves it on first use.
  const Env& reduction_scope(const Env& env, ast::ExprId id);
  // The monoid of a reduction whose operand has this type; and of a reduction by a user's monoid, given the types of
  // its operands. A literal has the type of the cell that it is written to, if that is known.
  ir::MonoidId builtin_monoid(const Env& scope, const ast::Reduce& reduce, ElementType type,
                              std::optional<ElementType> expected);
  MonoidInstance user_monoid(const Env& env, const Env& scope, const ast::Reduce& reduce,
                             const std::vector<std::optional<ElementType>>& written_to);

  // A built-in function of typed cells, and a conversion; also used for calls on whole tensors.
  Cell apply(ir::CellOp op, const std::vector<Cell>& args, const std::vector<Span>& spans, Frame& frame);
  Cell convert(const Cell& value, ElementType to, Frame& frame);

  void in_fold(std::string index) { fold_index_ = std::move(index); }
  // The float type to suggest for conversions without a closer hint: that of the cell being written.
  void offer_float(std::optional<ElementType> type) {
    if (type && is_float(*type)) offered_ = *type;
  }

 private:
  struct Guard {
    ast::ExprId condition;
    const Env* env;
    bool negated;
    bool never;  // the condition is constant, so the guarded expression is never evaluated
  };
  // A reduction that became an operation: its local, by the variables that it uses.
  struct Hoisted {
    ir::ValueId value;
    ir::TensorType stored;
    ElementType type;
    std::vector<VarId> vars;
    bool guarded = false;
    std::uint32_t guards = 0;
  };

  Cell elaborate_anew(const Env& env, ast::ExprId id, Frame& frame, std::optional<ElementType> expected);
  Cell node(const Env&, ast::ExprId, const ast::IntLiteral&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::FloatLiteral&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::BoolLiteral&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::NameRef&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::Member&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::Index&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::Call&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::Unary&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::Binary&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::If&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::Let&, Frame&, std::optional<ElementType>);
  Cell node(const Env&, ast::ExprId, const ast::Reduce&, Frame&, std::optional<ElementType>);
  template <class Other>
  Cell node(const Env& env, ast::ExprId id, const Other&, Frame&, std::optional<ElementType>) {
    return not_a_cell(env, id);
  }
  [[noreturn]] Cell not_a_cell(const Env& env, ast::ExprId id);

  Cell named(const Env& env, ast::ExprId id, const std::string& name, Frame& frame,
             std::optional<ElementType> expected);
  Cell thunk(const ThunkEntity& thunk, Frame& frame, std::optional<ElementType> expected);
  Cell for_type(const ThunkEntity& thunk, Frame& frame);
  Cell read_tensor(const Env& env, ast::ExprId id, const ast::Index& index, const TensorEntity& tensor, Frame& frame);
  Cell function(const Env& env, ast::ExprId id, const ast::Call& call, Frame& frame,
                std::optional<ElementType> expected);
  std::optional<std::int64_t> parameter_as_integer(const Env& env, ast::ExprId id, const ast::Call& call,
                                                   ElementType to);
  Cell cast(const Env& env, ast::ExprId id, const ast::Call& call, ElementType to, Frame& frame);
  Cell inlined(const Env& env, ast::ExprId id, const ast::Call& call, Frame& frame,
               std::optional<ElementType> expected);
  void refuse_wide_shift(ElementType type, const Cell& by, Span span, const Frame& frame);
  const Definition& inlinable(const Env& env, const ast::Call& call, Span span);
  std::vector<ThunkEntity> arguments(const Env& env, const ast::Call& call, const ast::OpDecl& op, Frame& frame,
                                     std::optional<ElementType> expected);
  void bind_equations(Env& callee, const Definition& definition, const ast::OpDecl& op, Span span);
  [[noreturn]] void refuse_inlining(const Definition& definition, Span span, const std::string& why);
  void refuse_packs_of_cells(const ast::Reduce& reduce);
  Cell compare(const Env& env, const ast::Binary& b, ast::ExprId id, Frame& frame);
  Cell fold_reduce(const Env& env, ast::ExprId id, const ast::Reduce& reduce, Frame& frame,
                   std::optional<ElementType> expected);
  Cell unevaluated(ElementType type, Frame& frame);
  Cell read_hoisted(const Hoisted& hoisted, Frame& frame);
  ir::CellId guard_operand(ir::CellId operand, ir::CellId identity, Frame& inner, const std::vector<VarId>& parallel);

  // Both operands with one type: literals take the other's. Literal results when both are.
  struct Pair {
    Cell left, right;
  };
  Pair both(const Env& env, ast::ExprId left, ast::ExprId right, Frame& frame, std::optional<ElementType> expected,
            Span op);
  void refuse_float_with_integer(const Env& env, ast::ExprId literal, const Cell& l, ast::ExprId typed, const Cell& t,
                                 Span op);
  [[noreturn]] void mismatch(const Env& env, ast::ExprId left, ast::ExprId right, ElementType l, ElementType r,
                             Span op);
  [[noreturn]] void refuse_number(const Env& env, Span span);
  Cell constant(Frame& frame, ElementType type, std::int64_t value, Span span);
  Cell constant(Frame& frame, ElementType type, double value, Span span);
  Cell make(Frame& frame, ir::CellOp op, ElementType type, std::vector<ir::CellId> args) {
    return {Cell::Kind::typed, frame.cells.apply(op, compute_type(type), std::move(args)), type};
  }
  // `value` is the condition's cell.
  void push_guard(ast::ExprId condition, const Env& env, bool negated, const Frame& frame, ir::CellId value);
  void pop_guard();
  // False under a condition that is known to be false: what is never evaluated cannot fail.
  bool may_be_reached() {
    bool never = std::any_of(guards_.begin(), guards_.end(), [](const Guard& guard) { return guard.never; });
    guard_dependences_ += never;
    return !never;
  }
  // Returns the memo's entry for these guards, for some of them or for none; else calls `elaborated`.
  template <class Memo, class Key, class Elaborate>
  Cell once(Memo& memo, Key key, Elaborate elaborated);

  Elaboration& elaboration_;
  BodyBuilder* body_;
  IndexSpace& space_;
  std::string label_;
  std::string fold_index_;
  std::vector<Guard> guards_;
  std::vector<std::uint32_t> guard_ids_{0};
  std::map<std::tuple<std::uint32_t, std::size_t, const Env*, bool>, std::uint32_t> known_guards_;
  std::uint32_t unevaluated_ = 0;
  bool for_type_ = false;              // only the type of the expression is needed
  std::size_t guard_dependences_ = 0;  // how often the result depended on the enclosing guards
  std::map<std::pair<std::size_t, const Env*>, std::vector<Hoisted>> hoisted_;
  std::vector<const Definition*> inlining_;
  int depth_ = 0;
  ElementType offered_ = ElementType::f32;
};

template <class Memo, class Key, class Elaborate>
Cell CellElaborator::once(Memo& memo, Key key, Elaborate elaborated) {
  auto& guards = std::get<Frame::Guards>(key);
  guards.reset();
  if (auto found = memo.find(key); found != memo.end()) return found->second;
  auto memo_lookup = [&](std::uint32_t id, bool for_type) {
    guards = {id, for_type};
    auto found = memo.find(key);
    guard_dependences_ += found != memo.end();
    return found;
  };
  std::size_t guards_before = guard_dependences_;
  if (guards_before > 0) {
    if (for_type_)
      if (auto found = memo_lookup(guard_ids_.back(), true); found != memo.end()) return found->second;
    // An entry made under fewer guards is valid under more of them.
    for (auto id = guard_ids_.rbegin(); id != guard_ids_.rend(); ++id)
      if (auto found = memo_lookup(*id, false); found != memo.end()) return found->second;
  }
  Cell cell = elaborated();
  guards.reset();
  if (guard_dependences_ != guards_before) guards = {guard_ids_.back(), for_type_};
  return memo[std::move(key)] = cell;
}

}  // namespace tap
