// Packs of index variables: their number of variables, and the axes of an indexed tensor that they cover.
#include "compiler/frontend/cells/index_space.h"

namespace tap {

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

// True if this determined a pack.
bool IndexSpace::solve_pack(const IndexedAccess& at) {
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
  // Indices with the form of the declared type: packs correspond to packs.
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
    for (const auto& at : accesses_) progress |= solve_pack(at);
  }
  for (const auto& pack : packs_)
    if (!pack.known)
      elaboration_.fail(Diagnostic(Code::pack_ambiguous, pack.span,
                                   "cannot infer how many indices the pack " + quoted(pack.name + "..") + " has"));
}

std::vector<AxisIndex> IndexSpace::expand(const IndexedAccess& at) {
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
        elaboration_.fail(std::move(d).help("a pack is bound on the left side or by a reduction"));
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
        elaboration_.fail(Diagnostic(Code::unknown_name, expr.span,
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
    elaboration_.fail(Diagnostic(Code::rank_mismatch, at.span,
                                 quoted(at.tensor) + " has " + counted(at.shape->size(), "axis", "axes") + " (shape " +
                                     to_string(*at.shape) + "); got " + counted(axes.size(), "coordinate")));
  }
  return axes;
}

// The layout of the packs in these indices, for later reads of a local with the same packs.
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

std::optional<std::string> IndexSpace::left_indices(const Shape& shape) const {
  if (shape.empty()) return "";
  if (left_.size() != shape.size()) return std::nullopt;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const IndexVar& var = vars_[left_[axis].index()];
    if (!var.resolved || var.range.lo < 0 || var.range.hi > shape[axis]) return std::nullopt;
  }
  std::string text;
  for (auto [is_pack, number] : left_order_)
    text += (text.empty() ? "" : ", ") + (is_pack ? packs_[number].name + ".." : vars_[number].name);
  return text;
}

}  // namespace tap
