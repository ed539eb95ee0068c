// Reductions inside cell expressions: each becomes a separate operation, and the expression reads its result.
#include <algorithm>

#include "compiler/frontend/cells/cells.h"
#include "compiler/frontend/cells/conversions.h"
#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/monoids.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/syntax/builtins.h"
#include "compiler/frontend/syntax/syntax_habits.h"
#include "ir/graph.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap {

using ir::CellId;
using ir::CellOp;

const Env& CellElaborator::reduction_scope(const Env& env, ast::ExprId id) {
  if (!space_.inner_scope(env, id)) {
    if (auto* reduce = std::get_if<ast::Reduce>(&env[id].node); reduce && !inlining_.empty())
      refuse_packs_of_cells(*reduce);
    space_.walk(env, id);
    space_.solve();
  }
  const Env* scope = space_.inner_scope(env, id);
  TAP_CHECK(scope, "a reduction without a scope");
  return *scope;
}

ir::MonoidId CellElaborator::builtin_monoid(const Env& scope, const ast::Reduce& reduce, ElementType type,
                                            std::optional<ElementType> expected) {
  const std::string& name = reduce.monoid.text;
  if (auto id = builtin_monoid_of(elaboration_, name, type)) return *id;
  bool logical = name == "any" || name == "all";
  Diagnostic d(Code::type_mismatch, reduce.monoid.span,
               quoted(name) + " reduces " + (logical ? "bool" : "numbers") + "; got " + std::string(name_of(type)));
  d.label(scope[reduce.operands[0]].span, "this is " + type_text(type));
  offer_for_reduction(elaboration_, scope, reduce, expected, d);
  elaboration_.fail(std::move(d));
}

MonoidInstance CellElaborator::user_monoid(const Env& env, const Env& scope, const ast::Reduce& reduce,
                                           const std::vector<std::optional<ElementType>>& written_to) {
  const std::string& name = reduce.monoid.text;
  const Definition* definition = elaboration_.definitions.find(*env.scope, Sort::monoid, reduce.monoid);
  if (!definition) {
    auto known = elaboration_.definitions.names(*env.scope, Sort::monoid);
    for (const char* builtin : {"all", "any", "max", "min", "prod", "sum"}) known.push_back(builtin);
    Diagnostic unknown(Code::unknown_name, reduce.monoid.span, "unknown reduction " + quoted(name));
    if (std::string fix_text = instead_of_reduction(name, "[…]"); !fix_text.empty())
      elaboration_.fail(std::move(unknown.help(fix_text)));
    elaboration_.fail(
        with_near_name(Diagnostic(Code::unknown_name, reduce.monoid.span, "unknown reduction " + quoted(name)),
                       reduce.monoid.span, name, known));
  }
  if (!is_generic(*definition)) return monoid_of(elaboration_, *definition, {}, reduce.monoid.span);
  std::size_t components = definition->as<ast::MonoidDecl>()->components.size();
  if (reduce.operands.size() != components)
    elaboration_.fail(Diagnostic(Code::type_mismatch, reduce.monoid.span,
                                 quoted(name) + " has " + counted(components, "component") + "; got " +
                                     counted(reduce.operands.size(), "operand"))
                          .label(definition->name_span, "declared here"));
  std::vector<TypedComponent> given;
  for (std::size_t k = 0; k < components; ++k) {
    Frame scratch(space_);
    Cell cell = elaborate(scope, reduce.operands[k], scratch, std::nullopt);
    given.push_back({cell.is_literal() ? std::nullopt : std::optional(cell.type), scope[reduce.operands[k]].span,
                     k < written_to.size() ? written_to[k] : std::nullopt});
  }
  return monoid_of(elaboration_, *definition, given, reduce.monoid.span);
}

Cell CellElaborator::read_hoisted(const Hoisted& hoisted, Frame& frame) {
  FrameRead read;
  read.value = hoisted.value;
  read.type = hoisted.stored;
  for (VarId var : hoisted.vars) read.start.push_back(VarAffine{{{var, 1}}, checked::sub(0, space_[var].range.lo)});
  return {Cell::Kind::typed, frame.read(std::move(read)), hoisted.type};
}

// Under lazy conditions around the reduction, its operation must not evaluate the operand either: the operand becomes
// `if condition then operand else identity`.
CellId CellElaborator::guard_operand(CellId operand, CellId identity, Frame& inner,
                                     const std::vector<VarId>& parallel) {
  ElementType type = inner.cells[operand].type;
  for (std::size_t n = guards_.size(); n-- > 0;) {
    const Guard guard = guards_[n];
    // A condition is itself evaluated under the enclosing conditions.
    auto guards = std::vector<Guard>(guards_.begin(), guards_.begin() + static_cast<std::ptrdiff_t>(n));
    auto ids = std::vector<std::uint32_t>(guard_ids_.begin(), guard_ids_.begin() + static_cast<std::ptrdiff_t>(n + 1));
    std::swap(guards, guards_);
    std::swap(ids, guard_ids_);
    CellId condition = of_type(*guard.env, guard.condition, inner, ElementType::boolean, {}, "");
    std::swap(guards, guards_);
    std::swap(ids, guard_ids_);
    if (guard.negated) condition = inner.cells.apply(CellOp::logical_not, ElementType::boolean, {condition});
    operand = inner.cells.apply(CellOp::select, type, {condition, operand, identity});
  }
  for (VarId var : parallel)
    for (const VarAffine& constraint : std::vector<VarAffine>(space_[var].constraints)) {
      CellId zero = inner.cells.constant(ir::Scalar::integer(ElementType::i64, 0));
      CellId inside = inner.cells.apply(CellOp::less_equal, ElementType::boolean, {zero, inner.affine(constraint)});
      operand = inner.cells.apply(CellOp::select, type, {inside, operand, identity});
    }
  return operand;
}

// A placeholder for a reduction of which only the type is needed; it becomes an operation if it is evaluated.
Cell CellElaborator::unevaluated(ElementType type, Frame& frame) {
  return {Cell::Kind::typed, frame.cells.argument(unevaluated_++, compute_type(type)), type};
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Reduce& reduce, Frame& frame,
                          std::optional<ElementType> expected) {
  if (!body_) return fold_reduce(env, id, reduce, frame, expected);
  auto& known = hoisted_[{id.index(), &env}];
  for (const Hoisted& hoisted : known)
    if (!hoisted.guarded || hoisted.guards == guard_ids_.back()) {
      guard_dependences_ += hoisted.guarded;
      return read_hoisted(hoisted, frame);
    }

  std::size_t guards_before = guard_dependences_;
  const Env& scope = reduction_scope(env, id);
  const std::vector<VarId> reduction = space_.reduction_vars(env, id);
  Frame inner(space_);
  bool builtin = is_builtin_reduction(reduce.monoid.text);
  CellId operand;
  ElementType type;
  ir::MonoidId monoid;
  if (reduce.operands.size() != 1) {
    const Definition* declared = elaboration_.definitions.find(*env.scope, Sort::monoid, reduce.monoid);
    std::size_t components = declared ? declared->as<ast::MonoidDecl>()->components.size() : 0;
    if (components != 0 && components != reduce.operands.size())
      elaboration_.fail(Diagnostic(Code::bad_monoid, env[id].span,
                                   quoted(reduce.monoid.text) + " has " + counted(components, "component") + "; got " +
                                       counted(reduce.operands.size(), "value"))
                            .label(declared->name_span, "declared here"));
    elaboration_.fail(Diagnostic(
        Code::bad_monoid, env[id].span,
        "one value is expected here; a reduction with several components must be the whole right side of `(…) = …`"));
  }
  if (builtin) {
    Cell cell = elaborate(scope, reduce.operands[0], inner, std::nullopt);
    if (cell.is_literal()) cell = typed(scope, reduce.operands[0], inner, expected);
    operand = cell.id;
    type = cell.type;
    monoid = builtin_monoid(scope, reduce, type, expected);
  } else {
    MonoidInstance instance = user_monoid(env, scope, reduce, {expected});
    monoid = instance.id;
    if (instance.types.size() != 1)
      elaboration_.fail(Diagnostic(Code::bad_monoid, env[id].span,
                                   quoted(reduce.monoid.text) + " has " + counted(instance.types.size(), "component") +
                                       "; its reduction must be the whole right side of `(…) = …`"));
    type = instance.types[0];
    operand =
        of_type(scope, reduce.operands[0], inner, type, reduce.monoid.span, "reduced as " + std::string(name_of(type)));
  }
  for (VarId var : reduction)
    for (const VarAffine& constraint : std::vector<VarAffine>(space_[var].constraints)) inner.use(constraint);

  std::vector<VarId> parallel, stored_by;
  auto collect = [&] {
    parallel.clear();
    for (VarId var : inner.used())
      if (space_[var].role != VarRole::counter && std::find(reduction.begin(), reduction.end(), var) == reduction.end())
        parallel.push_back(var);
    // In the order of the left side, so that the local has the result's layout; variables of outer reductions follow.
    const auto& left = space_.left_vars();
    std::stable_sort(parallel.begin(), parallel.end(), [&](VarId a, VarId b) {
      return std::find(left.begin(), left.end(), a) < std::find(left.begin(), left.end(), b);
    });
  };
  collect();
  // A reduction that depends on the guards differs under other guards.
  bool reads_guarded = guard_dependences_ != guards_before;
  bool can_fail = inner.can_fail();
  Hoisted hoisted{{}, {}, type, {}, can_fail || reads_guarded, guard_ids_.back()};
  guard_dependences_ += hoisted.guarded;
  if (hoisted.guarded && for_type_) return unevaluated(type, frame);
  if (can_fail) {
    const ir::Monoid& m = elaboration_.program[monoid];
    CellId identity = inner.cells.constant(m.exprs[m.identity[0]].value);
    operand = guard_operand(operand, identity, inner, parallel);
    collect();
  }
  FrameWrite write;
  for (VarId var : parallel) {
    write.start.push_back(VarAffine{{{var, 1}}, checked::sub(0, space_[var].range.lo)});
    write.result_shape.push_back(space_[var].range.size());
  }
  write.element = compute_type(type);
  hoisted.stored = {write.element, write.result_shape};
  hoisted.vars = parallel;
  hoisted.value = body_->add_value(label_ + "." + reduce.monoid.text, hoisted.stored, env[id].span);
  std::vector<CellId> roots{operand};
  auto finished = inner.finish(label_ + "." + reduce.monoid.text, parallel, reduction, {write}, roots,
                               body_->counter_depth(), true);
  body_->add_operation(std::move(finished), ir::ReduceBody{monoid, roots}, {hoisted.value}, env[id].span);
  hoisted_[{id.index(), &env}].push_back(hoisted);
  return read_hoisted(hoisted, frame);
}

Cell CellElaborator::fold_reduce(const Env& env, ast::ExprId id, const ast::Reduce& reduce, Frame& frame,
                                 std::optional<ElementType> expected) {
  if (fold_index_.empty())
    elaboration_.fail(Diagnostic(Code::bad_monoid, env[id].span,
                                 "a monoid's `combine` takes two values; a reduction belongs in its `fold`"));
  if (reduce.vars.size() != 1 || reduce.vars[0].name.text != fold_index_ || reduce.operands.size() != 1)
    elaboration_.fail(Diagnostic(Code::bad_monoid, env[id].span,
                                 "inside a fold, reductions run over the fold's index: " +
                                     quoted(reduce.monoid.text + "[" + fold_index_ + "] …")));
  Cell operand = elaborate(env, reduce.operands[0], frame, std::nullopt);
  if (operand.is_literal()) operand = typed(env, reduce.operands[0], frame, expected);
  ir::MonoidId monoid = is_builtin_reduction(reduce.monoid.text) ? builtin_monoid(env, reduce, operand.type, expected)
                                                                 : user_monoid(env, env, reduce, {operand.type}).id;
  if (elaboration_.program[monoid].arity() != 1)
    elaboration_.fail(Diagnostic(Code::bad_monoid, env[id].span, "a fold may only use reductions with one component"));
  CellId cell = frame.cells.add(
      {CellOp::reduce, compute_type(operand.type), static_cast<std::uint32_t>(monoid.index()), {}, {operand.id}});
  return {Cell::Kind::typed, cell, operand.type};
}

}  // namespace tap
