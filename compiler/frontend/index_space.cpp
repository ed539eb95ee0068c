#include "compiler/frontend/index_space.h"

#include <algorithm>

#include "compiler/frontend/builtins.h"
#include "compiler/frontend/index_walk.h"
#include "compiler/frontend/sizes.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap {

// ---- affine expressions of variables --------------------------------------------------------------------------------

std::optional<VarId> VarAffine::as_variable() const {
  if (offset == 0 && terms.size() == 1 && terms[0].second == 1) return terms[0].first;
  return std::nullopt;
}

VarAffine operator+(const VarAffine& a, const VarAffine& b) {
  VarAffine r;
  r.offset = checked::add(a.offset, b.offset);
  std::size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].first < b.terms[j].first)) {
      r.terms.push_back(a.terms[i++]);
    } else if (i == a.terms.size() || b.terms[j].first < a.terms[i].first) {
      r.terms.push_back(b.terms[j++]);
    } else {
      std::int64_t sum = checked::add(a.terms[i].second, b.terms[j].second);
      if (sum != 0) r.terms.emplace_back(a.terms[i].first, sum);
      ++i, ++j;
    }
  }
  return r;
}

VarAffine scale(const VarAffine& a, std::int64_t factor) {
  VarAffine r;
  if (factor == 0) return r;
  r.offset = checked::mul(a.offset, factor);
  for (auto [var, coefficient] : a.terms) r.terms.emplace_back(var, checked::mul(coefficient, factor));
  return r;
}

VarAffine operator-(const VarAffine& a, const VarAffine& b) { return a + scale(b, -1); }

// ---- binding --------------------------------------------------------------------------------------------------------

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
    session_.fail(Diagnostic(Code::reserved_name, name.span,
                             quoted(name.text) + " is a built-in name and cannot be an index variable"));
  if (auto* entity = env.find(name.text)) {
    auto constant = [&](const char* what, Span where) {
      Diagnostic d(Code::dim_bound_as_variable, name.span,
                   quoted(name.text) + " is " + what + " here and cannot be bound as an index variable");
      if (where.valid()) d.label(where, "bound here");
      d.help("choose another name for the index variable");
      session_.fail(std::move(d));
    };
    if (auto* dim = std::get_if<DimEntity>(entity)) constant("a dim", dim->span);
    if (auto* parameter = std::get_if<IntEntity>(entity)) constant("a parameter", parameter->span);
    if (auto* counter = std::get_if<CounterEntity>(entity)) constant("a counter", counter->span);
    if (auto* var = std::get_if<VarEntity>(entity)) {
      const IndexVar& other = vars_[var->var.index()];
      bool written = other.role == VarRole::left && role == VarRole::reduction;
      session_.fail(Diagnostic(written ? Code::reduced_dim_written : Code::variable_rebound, name.span,
                               written ? quoted(name.text) + " is reduced here, and what is written has it as an index"
                                       : quoted(name.text) + " is already an index variable here")
                        .label(other.span, "bound here"));
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
    session_.fail(Diagnostic(Code::dim_bound_as_variable, name.span,
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
  } else if (std::holds_alternative<ast::Index>(expr.node)) {
    session_.fail(Diagnostic(Code::data_dependent_write, expr.span,
                             "the written coordinate " + quoted(source_of(session_, expr.span)) +
                                 " depends on data; what is written is affine in index variables")
                      .help("write every cell and select by equality, as a scatter does: `y[v, d] = sum[t] (if ids[t] "
                            "== v then g[t, d] else 0)`"));
  }
}

void IndexSpace::bind_left(Env& env, const std::vector<ast::Cell>& cells, const std::vector<ast::RangeVar>& ranges) {
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

void IndexSpace::add_left(const Env& env, const ast::Cell& cell, const TensorEntity* declared) {
  IndexedAt at{&env, &cell.indices, cell.span, cell.base.text};
  at.left = true;
  if (declared) {
    at.shape = &declared->type.shape;
    at.pattern = &declared->pattern;
  }
  places_.insert(places_.begin() + static_cast<std::ptrdiff_t>(places_done_), at);
}

void IndexSpace::walk(const Env& env, ast::ExprId expr) { IndexWalker(*this).walk(env, expr, 0); }

const Env* IndexSpace::inner_scope(const Env& env, ast::ExprId expr) const {
  auto found = scoped_.find({expr.index(), &env});
  return found == scoped_.end() ? nullptr : found->second.scope;
}

const std::vector<VarId>& IndexSpace::reduction_vars(const Env& env, ast::ExprId expr) const {
  return scoped_.at({expr.index(), &env}).vars;
}

bool IndexSpace::is_index_pack(const Env& env, const std::string& name) const {
  return env.find_as<VarPackEntity>(name) != nullptr;
}

// ---- solving --------------------------------------------------------------------------------------------------------

void IndexSpace::solve() {
  solve_packs();
  left_ = in_order(left_order_);
  for (auto& [key, scoped] : scoped_)
    if (scoped.vars.empty()) scoped.vars = in_order(scoped.bound);
  solve_ranges();
  places_done_ = places_.size();
}

std::vector<VarId> IndexSpace::in_order(const std::vector<std::pair<bool, std::uint32_t>>& bound) const {
  std::vector<VarId> vars;
  for (auto [is_pack, number] : bound) {
    if (is_pack) vars.insert(vars.end(), packs_[number].vars.begin(), packs_[number].vars.end());
    else vars.push_back(VarId(number));
  }
  return vars;
}

void IndexSpace::set_pack(std::uint32_t number, std::size_t rank, bool broadcast) {
  IndexPack& pack = packs_[number];
  pack.known = true;
  pack.broadcast = broadcast;
  for (std::size_t i = 0; i < rank; ++i) {
    std::string name = rank == 1 ? pack.name : pack.name + std::to_string(i);
    VarId id = add_var({name, pack.span, pack.role});
    packs_[number].vars.push_back(id);
  }
}

// True if a pack became known here.
bool IndexSpace::solve_pack(const IndexedAt& at) {
  if (!at.shape) return false;
  std::vector<std::uint32_t> unknown;
  std::size_t rest = 0;
  std::vector<std::optional<std::uint32_t>> items;
  for (ast::ExprId id : *at.indices) {
    std::optional<std::uint32_t> pack;
    if (auto* ref = std::get_if<ast::PackRef>(&(*at.env)[id].node))
      if (auto* entity = at.env->find_as<VarPackEntity>(ref->name)) pack = entity->pack;
    items.push_back(pack);
    if (!pack) ++rest;
    else if (packs_[*pack].known && !packs_[*pack].broadcast) rest += packs_[*pack].vars.size();
    else if (!packs_[*pack].known) unknown.push_back(*pack);
  }
  if (unknown.empty()) return false;
  // Written as the declared type was: packs stand against packs.
  if (at.pattern && at.pattern->size() == items.size()) {
    bool same = true;
    for (std::size_t i = 0; i < items.size(); ++i) same &= (*at.pattern)[i].pack == items[i].has_value();
    if (same) {
      for (std::size_t i = 0; i < items.size(); ++i)
        if (items[i] && !packs_[*items[i]].known)
          set_pack(*items[i], (*at.pattern)[i].rank, at.left && (*at.pattern)[i].broadcast);
      return true;
    }
  }
  if (unknown.size() > 1 || rest > at.shape->size()) return false;
  bool broadcast = false;
  if (at.left && at.pattern)
    for (const auto& item : *at.pattern) broadcast |= item.broadcast;
  set_pack(unknown.front(), at.shape->size() - rest, broadcast);
  return true;
}

void IndexSpace::solve_packs() {
  bool progress = true;
  while (progress) {
    progress = false;
    for (const auto& at : places_) progress |= solve_pack(at);
  }
  for (const auto& pack : packs_)
    if (!pack.known)
      session_.fail(Diagnostic(Code::pack_ambiguous, pack.span,
                               "the number of indices that " + quoted(pack.name + "..") +
                                   " stands for does not follow from any tensor that it indexes"));
}

std::vector<AxisIndex> IndexSpace::expand(const IndexedAt& at) {
  std::vector<AxisIndex> axes;
  std::size_t rest = 0;
  for (ast::ExprId id : *at.indices) rest += !std::holds_alternative<ast::PackRef>((*at.env)[id].node);
  for (ast::ExprId id : *at.indices) {
    const ast::Expr& expr = (*at.env)[id];
    if (auto* ref = std::get_if<ast::PackRef>(&expr.node)) {
      auto* entity = at.env->find_as<VarPackEntity>(ref->name);
      if (!entity) {
        Diagnostic d(Code::unknown_name, expr.span,
                     quoted(ref->name + "..") + " is not a pack of index variables here");
        session_.fail(std::move(d).help("a pack is bound on the left side or by a reduction"));
      }
      const IndexPack& pack = packs_[entity->pack];
      std::size_t skip = 0;
      if (pack.broadcast && at.shape && !at.left) {
        std::size_t own = at.shape->size() >= rest ? at.shape->size() - rest : 0;
        skip = pack.vars.size() > own ? pack.vars.size() - own : 0;
      }
      for (std::size_t i = skip; i < pack.vars.size(); ++i) {
        bool one = pack.broadcast && !at.left && at.shape && axes.size() < at.shape->size() &&
                   (*at.shape)[axes.size()] == 1;
        axes.push_back({one ? AxisIndex::Kind::zero : AxisIndex::Kind::variable, id, pack.vars[i], 0, expr.span});
      }
      continue;
    }
    AxisIndex axis{AxisIndex::Kind::expression, id, {}, 0, expr.span};
    if (auto* linear = std::get_if<ast::LinearIndex>(&expr.node)) {
      auto* entity = at.env->find_as<VarPackEntity>(linear->pack);
      if (!entity)
        session_.fail(Diagnostic(Code::unknown_name, expr.span,
                                 quoted(linear->pack + "..") + " is not a pack of index variables here"));
      axis.kind = AxisIndex::Kind::linear;
      axis.pack = entity->pack;
    } else if (auto* name = std::get_if<ast::NameRef>(&expr.node)) {
      if (auto* found = at.env->find(name->name))
        if (auto* var = std::get_if<VarEntity>(found)) {
          axis.kind = AxisIndex::Kind::variable;
          axis.var = var->var;
        }
    }
    axes.push_back(axis);
  }
  if (at.shape && axes.size() != at.shape->size()) {
    session_.fail(Diagnostic(Code::rank_mismatch, at.span,
                             quoted(at.tensor) + " has " + std::to_string(at.shape->size()) + " dims, " +
                                 to_string(*at.shape) + "; got " + std::to_string(axes.size()) + " coordinates"));
  }
  return axes;
}

// How the packs of these indices lie: a local read later with the same packs has them again.
std::vector<PatternItem> IndexSpace::pattern_of(const Env& env, const std::vector<ast::ExprId>& indices) const {
  std::vector<PatternItem> pattern;
  for (ast::ExprId id : indices) {
    auto* ref = std::get_if<ast::PackRef>(&env[id].node);
    auto* entity = ref ? env.find_as<VarPackEntity>(ref->name) : nullptr;
    if (!entity) pattern.push_back({});
    else pattern.push_back({true, packs_[entity->pack].broadcast, packs_[entity->pack].vars.size()});
  }
  return pattern;
}

void IndexSpace::solve_ranges() {
  for (std::size_t i = places_done_; i < places_.size(); ++i) {
    const IndexedAt& at = places_[i];
    if (!at.shape) continue;
    std::vector<AxisIndex> axes = expand(at);
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      if (axes[axis].kind == AxisIndex::Kind::variable)
        candidates_[axes[axis].var.index()].push_back({(*at.shape)[axis], axes[axis].span, at.left, at.bounded});
  }
  bool progress = true;
  while (progress) {
    progress = false;
    for (auto& var : vars_)
      if (!var.resolved && var.lo) progress |= resolve_written(var);
    if (progress) continue;
    for (std::size_t i = 0; i < vars_.size() && !progress; ++i) {
      IndexVar& var = vars_[i];
      if (var.resolved || var.lo) continue;
      // The left dims decide; else the reads; else the bounded reads.
      auto weight = [](const Candidate& c) { return c.left ? 0 : c.bounded ? 2 : 1; };
      const Candidate* chosen = nullptr;
      for (const auto& c : candidates_[i])
        if (!chosen || weight(c) < weight(*chosen)) chosen = &c;
      if (!chosen)
        session_.fail(Diagnostic(Code::range_unknown, var.span,
                                 "the range of " + quoted(var.name) + " is not known: it stands alone in no dim" +
                                     (var.role == VarRole::left ? " that is written or read" : " that is read"))
                          .help(var.role == VarRole::left ? "write it: " + quoted("… for " + var.name + " in 0..n")
                                                          : "write it: " + quoted("sum[" + var.name + " in 0..n]")));
      for (const auto& c : candidates_[i])
        if (weight(c) == weight(*chosen) && c.size != chosen->size)
          session_.fail(Diagnostic(Code::range_disagrees, c.span,
                                   "the range of " + quoted(var.name) + " would be 0.." + std::to_string(c.size) +
                                       " here and 0.." + std::to_string(chosen->size) + " elsewhere")
                            .at_caret("size " + std::to_string(c.size))
                            .label(chosen->span, "size " + std::to_string(chosen->size))
                            .help("write the range that is meant: " +
                                  quoted(var.name + " in 0.." + std::to_string(std::min(c.size, chosen->size)))));
      var.range = {0, chosen->size};
      var.resolved = true;
      progress = true;
    }
  }
  for (const auto& var : vars_)
    if (!var.resolved)
      session_.fail(
          Diagnostic(Code::cyclic_definition, var.span, "the range of " + quoted(var.name) + " depends on itself"));
}

// Bounds that are constant give a range; bounds that follow other variables also give constraints.
bool IndexSpace::resolve_written(IndexVar& var) {
  VarId self(static_cast<std::size_t>(&var - vars_.data()));
  auto bound = [&](ast::ExprId id) {
    IndexValue value = value_of(*var.bounds_env, id);
    if (auto* data = std::get_if<DependsOnData>(&value))
      session_.fail(
          Diagnostic(Code::not_affine, data->span,
                     "the bound of " + quoted(var.name) + " depends on data; bounds are affine in index variables"));
    if (auto* no = std::get_if<NotAffine>(&value))
      session_.fail(Diagnostic(Code::not_affine, no->span, no->message).help(no->help));
    return std::get<VarAffine>(value);
  };
  ast::ExprId lo_id = *var.lo, hi_id = *var.hi;
  VarAffine lo = bound(lo_id), hi = bound(hi_id);
  IndexVar& self_var = vars_[self.index()];  // a counter may have been added meanwhile
  for (const auto& [other, coefficient] : (lo + hi).terms) {
    if (!vars_[other.index()].resolved) return false;
  }
  for (const auto& [other, coefficient] : lo.terms)
    if (!vars_[other.index()].resolved) return false;
  for (const auto& [other, coefficient] : hi.terms)
    if (!vars_[other.index()].resolved) return false;
  ir::Range low = bounds(lo), high = bounds(hi);
  if (low.empty() || high.empty()) self_var.range = {0, 0};
  else self_var.range = {low.lo, std::max(low.lo, high.hi - 1)};
  VarAffine me{{{self, 1}}, 0};
  if (!lo.is_constant()) self_var.constraints.push_back(me - lo);
  if (!hi.is_constant()) self_var.constraints.push_back(hi - me - VarAffine{{}, 1});
  self_var.resolved = true;
  return true;
}

ir::Range IndexSpace::bounds(const VarAffine& a) const {
  std::int64_t lo = a.offset, hi = a.offset;
  for (auto [var, coefficient] : a.terms) {
    ir::Range range = vars_[var.index()].range;
    if (range.empty()) return {0, 0};
    std::int64_t x = checked::mul(coefficient, range.lo), y = checked::mul(coefficient, range.hi - 1);
    lo = checked::add(lo, std::min(x, y));
    hi = checked::add(hi, std::max(x, y));
  }
  return {lo, checked::add(hi, 1)};
}

VarAffine IndexSpace::linear_index(std::uint32_t pack) {
  VarAffine result;
  std::int64_t stride = 1;
  const auto& vars = packs_[pack].vars;
  for (std::size_t i = vars.size(); i-- > 0;) {
    const IndexVar& var = vars_[vars[i].index()];
    result = result + scale(VarAffine{{{vars[i], 1}}, checked::sub(0, var.range.lo)}, stride);
    stride = checked::mul(stride, var.range.size());
  }
  return result;
}

VarAffine IndexSpace::affine_or_fail(const Env& env, const AxisIndex& index) {
  switch (index.kind) {
    case AxisIndex::Kind::variable: return {{{index.var, 1}}, 0};
    case AxisIndex::Kind::zero: return {};
    case AxisIndex::Kind::linear: return linear_index(index.pack);
    case AxisIndex::Kind::expression: break;
  }
  IndexValue value = value_of(env, index.expr);
  if (auto* no = std::get_if<NotAffine>(&value)) {
    Diagnostic d(Code::not_affine, no->span, no->message);
    if (!no->help.empty()) d.help(no->help);
    session_.fail(std::move(d));
  }
  if (auto* data = std::get_if<DependsOnData>(&value))
    session_.fail(Diagnostic(Code::data_dependent_write, data->span,
                             "a written coordinate depends on data; what is written is affine in index variables"));
  return std::get<VarAffine>(value);
}

}  // namespace tap
