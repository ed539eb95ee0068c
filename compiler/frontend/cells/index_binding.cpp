// Binds index variables: left sides, `for`, reductions, counters; and their scopes.
#include <algorithm>

#include "compiler/frontend/cells/index_space.h"
#include "compiler/frontend/cells/index_walk.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/syntax/builtins.h"

namespace tap {

VarId IndexSpace::add_var(IndexVar var) {
  vars_.push_back(std::move(var));
  candidates_.emplace_back();
  return VarId(vars_.size() - 1);
}

Env& IndexSpace::new_scope(const Env& outer) {
  scopes_.push_back(Env::inside(outer));
  return scopes_.back();
}

void IndexSpace::bind_name(Env& env, const ast::Name& name, VarRole role, const ast::RangeVar* range) {
  if (is_reserved(name.text))
    elaboration_.fail(Diagnostic(Code::reserved_name, name.span,
                                 quoted(name.text) + " is a built-in name and cannot be an index variable"));
  if (auto* entity = env.find(name.text)) {
    auto constant = [&](const char* what, Span where) {
      Diagnostic d(Code::dim_bound_as_variable, name.span,
                   quoted(name.text) + " is " + what + " here and cannot be bound as an index variable");
      if (where.valid()) d.label(where, "bound here");
      d.help("choose another name for the index variable");
      elaboration_.fail(std::move(d));
    };
    if (auto* dim = std::get_if<DimEntity>(entity)) constant("a dim", dim->span);
    if (auto* parameter = std::get_if<IntEntity>(entity)) constant("a parameter", parameter->span);
    if (auto* counter = std::get_if<CounterEntity>(entity)) constant("a counter", counter->span);
    if (auto* var = std::get_if<VarEntity>(entity)) {
      const IndexVar& other = vars_[var->var.index()];
      bool written = other.role == VarRole::left && role == VarRole::reduction;
      Diagnostic d(written ? Code::reduced_dim_written : Code::variable_rebound, name.span,
                   written ? quoted(name.text) + " is reduced here, but it also indexes the left side"
                           : quoted(name.text) + " is already an index variable here");
      d.label(other.span, "bound here");
      if (other.role == VarRole::reduction && role == VarRole::reduction)
        d.help(
            "a reduction extends as far to the right as possible: put the first one in parentheses, as in `(sum[k] "
            "a[k]) + "
            "sum[k] b[k]`");
      elaboration_.fail(std::move(d));
    }
  }
  IndexVar var{name.text, name.span, role};
  if (range && range->lo) {
    var.bounds_env = &env;
    var.lo = range->lo;
    var.hi = range->hi;
  }
  VarId id = add_var(std::move(var));
  if (role == VarRole::left) left_order_.emplace_back(false, static_cast<std::uint32_t>(id.index()));
  env.names[name.text] = VarEntity{id};
}

void IndexSpace::bind_pack(Env& env, const ast::Name& name, VarRole role) {
  if (auto* dims = env.find_as<PackEntity>(name.text))
    elaboration_.fail(Diagnostic(Code::dim_bound_as_variable, name.span,
                                 quoted(name.text + "..") + " is a pack of dims and cannot be bound as index variables")
                          .label(dims->span, "bound here"));
  packs_.push_back({name.text, name.span, role});
  auto number = static_cast<std::uint32_t>(packs_.size() - 1);
  if (role == VarRole::left) left_order_.emplace_back(true, number);
  env.names[name.text] = VarPackEntity{number};
}

void IndexSpace::bind_empty_pack(Env& env, const std::string& name, Span span) {
  packs_.push_back({name, span, VarRole::left, true});
  env.names[name] = VarPackEntity{static_cast<std::uint32_t>(packs_.size() - 1)};
}

// Every name in a left index that is not a constant is a variable that the equation binds.
void IndexSpace::collect_left_names(Env& env, ast::ExprId id) {
  const ast::Expr& expr = env[id];
  if (auto* name = std::get_if<ast::NameRef>(&expr.node)) {
    auto* entity = env.find(name->name);
    bool constant = entity &&
                    (std::holds_alternative<DimEntity>(*entity) || std::holds_alternative<IntEntity>(*entity) ||
                     std::holds_alternative<CounterEntity>(*entity) || std::holds_alternative<VarEntity>(*entity));
    if (!constant) bind_name(env, {name->name, expr.span}, VarRole::left, nullptr);
  } else if (auto* pack = std::get_if<ast::PackRef>(&expr.node)) {
    if (!env.find_as<VarPackEntity>(pack->name)) bind_pack(env, {pack->name, expr.span}, VarRole::left);
  } else if (auto* linear = std::get_if<ast::LinearIndex>(&expr.node)) {
    if (!env.find_as<VarPackEntity>(linear->pack)) bind_pack(env, {linear->pack, expr.span}, VarRole::left);
  } else if (auto* unary = std::get_if<ast::Unary>(&expr.node)) {
    collect_left_names(env, unary->operand);
  } else if (auto* binary = std::get_if<ast::Binary>(&expr.node)) {
    collect_left_names(env, binary->left);
    collect_left_names(env, binary->right);
  } else if (auto* call = std::get_if<ast::Call>(&expr.node)) {  // not an index; reported where it is used
    for (const auto& arg : call->args) collect_left_names(env, arg.value);
  } else if (std::holds_alternative<ast::Index>(expr.node)) {
    elaboration_.fail(Diagnostic(Code::data_dependent_write, expr.span,
                                 "the written coordinate " + quoted(source_of(elaboration_, expr.span)) +
                                     " depends on data; it must be affine in index variables")
                          .help("to scatter, write every cell and select by equality: `y[v, d] = sum[t] (if ids[t] "
                                "== v then g[t, d] else 0)`"));
  }
}

void IndexSpace::bind_left(Env& env, const std::vector<ast::LeftSide>& cells,
                           const std::vector<ast::RangeVar>& ranges) {
  for (const auto& range : ranges) {
    if (range.pack) bind_pack(env, range.name, VarRole::left);
    else bind_name(env, range.name, VarRole::left, &range);
  }
  std::size_t from_ranges = left_order_.size();
  for (const auto& cell : cells)
    for (ast::ExprId index : cell.indices) collect_left_names(env, index);
  // The order of the left side is the order of the index space; variables named only in `for` follow.
  std::rotate(left_order_.begin(), left_order_.begin() + static_cast<std::ptrdiff_t>(from_ranges), left_order_.end());
}

VarId IndexSpace::counter(std::uint32_t depth, const std::string& name, ir::Range trips, Span span) {
  auto [at, fresh] = counters_.emplace(depth, VarId{});
  if (fresh) {
    IndexVar var{name, span, VarRole::counter, depth};
    var.resolved = true;
    var.range = trips;
    at->second = add_var(std::move(var));
  }
  return at->second;
}

std::vector<VarId> IndexSpace::over_shape(const Shape& shape, Span span) {
  std::vector<VarId> vars;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    IndexVar var{"i" + std::to_string(axis), span};
    var.resolved = true;
    var.range = {0, shape[axis]};
    vars.push_back(add_var(std::move(var)));
  }
  return vars;
}

void IndexSpace::add_left(const Env& env, const ast::LeftSide& cell, const TensorEntity* declared) {
  IndexedAccess at{&env, &cell.indices, cell.span, cell.base.text};
  at.left = true;
  if (declared) {
    at.shape = &declared->type.shape;
    at.pattern = &declared->pattern;
  }
  accesses_.insert(accesses_.begin() + static_cast<std::ptrdiff_t>(accesses_done_), at);
}

void IndexSpace::walk(const Env& env, ast::ExprId expr) {
  if (!whole_.valid()) whole_ = env[expr].span;
  IndexWalker(*this).walk(env, expr, 0);
}

const Env* IndexSpace::inner_scope(const Env& env, ast::ExprId expr) const {
  auto found = scoped_.find({expr.index(), &env});
  return found == scoped_.end() ? nullptr : found->second.scope;
}

const std::vector<VarId>& IndexSpace::reduction_vars(const Env& env, ast::ExprId expr) const {
  return scoped_.at({expr.index(), &env}).vars;
}

}  // namespace tap
