#include "compiler/frontend/cells/cells.h"

#include "compiler/frontend/cells/cell_constants.h"
#include "compiler/frontend/cells/conversions.h"
#include "compiler/frontend/cells/index_walk.h"
#include "compiler/frontend/elaborate/sizes.h"

namespace tap {

using ir::CellId;
using ir::CellOp;

namespace {

bool is_leaf(const ast::Expr& expr) {
  return std::holds_alternative<ast::IntLiteral>(expr.node) || std::holds_alternative<ast::FloatLiteral>(expr.node) ||
         std::holds_alternative<ast::BoolLiteral>(expr.node) || std::holds_alternative<ast::NameRef>(expr.node);
}

}  // namespace

Cell CellElaborator::elaborate(const Env& env, ast::ExprId id, Frame& frame, std::optional<ElementType> expected) {
  if (is_leaf(env[id])) return elaborate_anew(env, id, frame, expected);
  return once(frame.memo, std::tuple(id.index(), &env, expected, Frame::Guards()),
              [&] { return elaborate_anew(env, id, frame, expected); });
}

Cell CellElaborator::elaborate_anew(const Env& env, ast::ExprId id, Frame& frame, std::optional<ElementType> expected) {
  struct Depth {
    int& depth;
    explicit Depth(int& d) : depth(d) { ++depth; }
    ~Depth() { --depth; }
  } nested(depth_);
  const ast::Expr& expr = env[id];
  if (depth_ > IndexWalker::max_depth)
    elaboration_.fail(
        Diagnostic(Code::nesting_too_deep, expr.span,
                   "an expression is nested more than " + std::to_string(IndexWalker::max_depth) + " operations deep"));
  return std::visit([&](const auto& n) { return node(env, id, n, frame, expected); }, expr.node);
}

Cell CellElaborator::typed(const Env& env, ast::ExprId id, Frame& frame, std::optional<ElementType> expected) {
  Cell cell = elaborate(env, id, frame, expected);
  if (!cell.is_literal()) return cell;
  if (cell.kind == Cell::Kind::int_literal) return elaborate(env, id, frame, ElementType::i64);
  Span span = env[id].span;
  std::string source = source_of(elaboration_, span);
  elaboration_.fail(
      Diagnostic(Code::needs_cast, span, "the type of " + quoted(source) + " cannot be inferred from its context")
          .help("write the type: " + quoted(type_text(offered_) + "(" + source + ")"))
          .fix(span, type_text(offered_) + "(" + source + ")"));
}

CellId CellElaborator::of_type(const Env& env, ast::ExprId id, Frame& frame, ElementType type, Span why,
                               const std::string& why_text) {
  Cell cell = elaborate(env, id, frame, type);
  if (cell.is_literal()) cell = typed(env, id, frame, type);
  if (cell.type == type) return cell.id;
  Span span = env[id].span;
  Diagnostic d(Code::needs_cast, span, "expected " + type_text(type) + "; got " + type_text(cell.type));
  d.at_caret("this is " + type_text(cell.type));
  if (why.valid()) d.label(why, why_text);
  offer_conversion(elaboration_, env, id, cell.type, type, d);
  elaboration_.fail(std::move(d));
}

Cell CellElaborator::not_a_cell(const Env& env, ast::ExprId id) {
  const ast::Expr& expr = env[id];
  std::string what = quoted(source_of(elaboration_, expr.span));
  std::string why = " is not the value of a cell";
  if (std::holds_alternative<ast::PackRef>(expr.node) || std::holds_alternative<ast::LinearIndex>(expr.node))
    why = " is a pack of indices and belongs inside brackets";
  if (std::holds_alternative<ast::Iterate>(expr.node)) why = " returns whole tensors: bind it with `name = iterate …`";
  if (std::holds_alternative<ast::Tuple>(expr.node)) why = " has several values; one is expected here";
  elaboration_.fail(Diagnostic(Code::type_mismatch, expr.span, what + why));
}

// ---- choice and let -------------------------------------------------------------------------------------------------

void CellElaborator::push_guard(ast::ExprId condition, const Env& env, bool negated, const Frame& frame, CellId value) {
  auto known_value = constant_value(frame.cells, value);
  guards_.push_back({condition, &env, negated, known_value && (known_value->i != 0) == negated});
  auto key = std::tuple(guard_ids_.back(), condition.index(), &env, negated);
  auto known = known_guards_.emplace(key, static_cast<std::uint32_t>(known_guards_.size() + 1)).first;
  // A reduction that can fail becomes a separate operation for every combination of conditions that leads to it.
  constexpr std::size_t most_guards = 10'000;
  if (known_guards_.size() > most_guards)
    elaboration_.fail(Diagnostic(Code::nesting_too_deep, env[condition].span,
                                 "the parts of this expression are used under more than " +
                                     std::to_string(most_guards) + " combinations of conditions")
                          .help("define the guarded value in a separate equation"));
  guard_ids_.push_back(known->second);
}

void CellElaborator::pop_guard() {
  guards_.pop_back();
  guard_ids_.pop_back();
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::If& choice, Frame& frame,
                          std::optional<ElementType> expected) {
  Span span = env[id].span;
  CellId condition = of_type(env, choice.condition, frame, ElementType::boolean, span, "a condition must be bool");
  auto branch = [&](bool taken_if, std::optional<ElementType> type) {
    push_guard(choice.condition, env, !taken_if, frame, condition);
    Cell cell = elaborate(env, taken_if ? choice.then_value : choice.else_value, frame, type);
    pop_guard();
    return cell;
  };
  Pair pair{branch(true, std::nullopt), branch(false, std::nullopt)};
  bool both_literal = pair.left.is_literal() && pair.right.is_literal();
  if (both_literal && !expected) return pair.left.kind == Cell::Kind::float_literal ? pair.left : pair.right;
  // Elaborates only literals again: otherwise a chain of `else if` would double at every link.
  if (pair.left.is_literal()) pair.left = branch(true, both_literal ? expected : pair.right.type);
  if (pair.right.is_literal()) pair.right = branch(false, both_literal ? expected : pair.left.type);
  if (pair.left.type != pair.right.type)
    mismatch(env, choice.then_value, choice.else_value, pair.left.type, pair.right.type, span);
  return make(frame, CellOp::select, pair.left.type, {condition, pair.left.id, pair.right.id});
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Let& let, Frame& frame,
                          std::optional<ElementType> expected) {
  if (!space_.inner_scope(env, id)) space_.walk(env, id), space_.solve();
  return elaborate(*space_.inner_scope(env, id), let.body, frame, expected);
}

std::vector<CellId> CellElaborator::tuple(const Env& env, ast::ExprId id, Frame& frame,
                                          const std::vector<ElementType>& types, Span why) {
  const ast::Expr& expr = env[id];
  auto wrong_arity = [&](std::size_t got) {
    elaboration_.fail(Diagnostic(Code::bad_monoid, expr.span,
                                 "expected " + counted(types.size(), "value") + "; got " + std::to_string(got))
                          .label(why, "one for each component"));
  };
  if (auto* items = std::get_if<ast::Tuple>(&expr.node)) {
    if (items->items.size() != types.size()) wrong_arity(items->items.size());
    std::vector<CellId> cells;
    for (std::size_t i = 0; i < types.size(); ++i)
      cells.push_back(of_type(env, items->items[i], frame, types[i], why, "this component is " + type_text(types[i])));
    return cells;
  }
  if (auto* choice = std::get_if<ast::If>(&expr.node); choice && types.size() > 1) {
    CellId condition =
        of_type(env, choice->condition, frame, ElementType::boolean, expr.span, "a condition must be bool");
    auto yes = tuple(env, choice->then_value, frame, types, why),
         no = tuple(env, choice->else_value, frame, types, why);
    std::vector<CellId> cells;
    for (std::size_t i = 0; i < types.size(); ++i)
      cells.push_back(yes[i] == no[i] ? yes[i] : make(frame, CellOp::select, types[i], {condition, yes[i], no[i]}).id);
    return cells;
  }
  if (auto* let = std::get_if<ast::Let>(&expr.node)) {
    if (!space_.inner_scope(env, id)) space_.walk(env, id), space_.solve();
    return tuple(*space_.inner_scope(env, id), let->body, frame, types, why);
  }
  if (auto* name = std::get_if<ast::NameRef>(&expr.node)) {
    const Entity* entity = env.find(name->name);
    if (auto* state = entity ? std::get_if<StateEntity>(entity) : nullptr) {
      std::vector<CellId> cells;
      for (std::size_t i = 0; i < types.size(); ++i)
        cells.push_back(frame.cells.argument(state->first + static_cast<std::uint32_t>(i), compute_type(types[i])));
      return cells;
    }
    if (auto* bound = entity ? std::get_if<ThunkEntity>(entity) : nullptr; bound && types.size() > 1)
      return tuple(*bound->env, bound->expr, frame, types, why);
  }
  if (types.size() != 1) wrong_arity(1);
  return {of_type(env, id, frame, types[0], why, "the component is " + type_text(types[0]))};
}

}  // namespace tap
