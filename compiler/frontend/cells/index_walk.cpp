#include "compiler/frontend/cells/index_walk.h"
#include "compiler/frontend/elaborate/unknown_names.h"

namespace tap {

void IndexWalker::walk(const Env& env, ast::ExprId id, int depth) {
  const ast::Expr& expr = env[id];
  if (depth > max_depth)
    space_.elaboration_.fail(
        Diagnostic(Code::nesting_too_deep, expr.span,
                   "an expression is nested more than " + std::to_string(max_depth) + " operations deep")
            .help("define parts of it in separate equations"));
  if (auto* index = std::get_if<ast::Index>(&expr.node)) return of(env, id, *index, depth);
  if (auto* reduce = std::get_if<ast::Reduce>(&expr.node)) {
    if (!space_.of_monoid_) of(env, id, *reduce, depth);
    return;
  }
  if (auto* let = std::get_if<ast::Let>(&expr.node)) return of(env, id, *let, depth);
  if (auto* unary = std::get_if<ast::Unary>(&expr.node)) return walk(env, unary->operand, depth + 1);
  if (auto* binary = std::get_if<ast::Binary>(&expr.node)) {
    walk(env, binary->left, depth + 1);
    return walk(env, binary->right, depth + 1);
  }
  if (auto* choice = std::get_if<ast::If>(&expr.node)) {
    walk(env, choice->condition, depth + 1);
    walk(env, choice->then_value, depth + 1);
    return walk(env, choice->else_value, depth + 1);
  }
  if (auto* call = std::get_if<ast::Call>(&expr.node))
    for (const auto& arg : call->args) walk(env, arg.value, depth + 1);
  if (auto* tuple = std::get_if<ast::Tuple>(&expr.node))
    for (ast::ExprId item : tuple->items) walk(env, item, depth + 1);
}

void IndexWalker::of(const Env& env, ast::ExprId id, const ast::Index& index, int depth) {
  if (auto* tensor = env.find_as<TensorEntity>(index.base.text)) {
    if (tensor->poisoned) throw Abandoned{};
    IndexedAccess at{&env, &index.indices, env[id].span, index.base.text, &tensor->type.shape, &tensor->pattern};
    at.bounded = index.fill.has_value();
    space_.accesses_.push_back(at);
  } else if (!space_.of_monoid_ && !env.find(index.base.text)) {
    // Report it now: otherwise its index variables would seem to have no range.
    space_.elaboration_.fail(not_a_tensor(env, index.base.text, index.base.span));
  }
  for (ast::ExprId inner : index.indices) walk(env, inner, depth + 1);
  if (index.fill) walk(env, *index.fill, depth + 1);
}

void IndexWalker::of(const Env& env, ast::ExprId id, const ast::Reduce& reduce, int depth) {
  auto [entry, fresh] = space_.scoped_.try_emplace({id.index(), &env});
  if (!fresh) return;
  Env& scope = space_.new_scope(env);
  IndexSpace::Scoped scoped{&scope, {}, {}};
  for (const auto& var : reduce.vars) {
    if (var.pack) {
      space_.bind_pack(scope, var.name, VarRole::reduction);
      scoped.bound.emplace_back(true, static_cast<std::uint32_t>(space_.packs_.size() - 1));
    } else {
      space_.bind_name(scope, var.name, VarRole::reduction, &var);
      scoped.bound.emplace_back(false, static_cast<std::uint32_t>(space_.vars_.size() - 1));
    }
  }
  entry->second = scoped;
  for (ast::ExprId operand : reduce.operands) walk(scope, operand, depth + 1);
}

void IndexWalker::of(const Env& env, ast::ExprId id, const ast::Let& let, int depth) {
  auto [entry, fresh] = space_.scoped_.try_emplace({id.index(), &env});
  if (!fresh) return;
  // Each binding sees the previous ones, so each has its own scope.
  const Env* scope = &env;
  for (const auto& binding : let.bindings) {
    Env& next = space_.new_scope(*scope);
    ThunkEntity thunk{binding.value, scope};
    thunk.span = binding.name.span;
    if (binding.index) thunk.fold_index = &binding.index->text;
    next.names[binding.name.text] = thunk;
    if (!binding.index) walk(*scope, binding.value, depth + 1);
    scope = &next;
  }
  space_.scoped_[{id.index(), &env}].scope = scope;
  walk(*scope, let.body, depth + 1);
}

}  // namespace tap
