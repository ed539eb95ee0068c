#include "compiler/frontend/cells/index_space.h"

#include <algorithm>

#include "compiler/frontend/elaborate/sizes.h"

namespace tap {

void IndexSpace::solve() {
  solve_packs();
  left_ = in_order(left_order_);
  for (auto& [key, scoped] : scoped_)
    if (scoped.vars.empty()) scoped.vars = in_order(scoped.bound);
  solve_ranges();
  accesses_done_ = accesses_.size();
}

std::vector<VarId> IndexSpace::in_order(const std::vector<std::pair<bool, std::uint32_t>>& bound) const {
  std::vector<VarId> vars;
  for (auto [is_pack, number] : bound) {
    if (is_pack) vars.insert(vars.end(), packs_[number].vars.begin(), packs_[number].vars.end());
    else vars.push_back(VarId(number));
  }
  return vars;
}

// The size of one of the indexed tensors, by its dim's name if it has one: the end of a range in an example.
static std::string example_size(const std::vector<IndexedAccess>& accesses) {
  for (const IndexedAccess& at : accesses) {
    if (!at.shape || at.shape->empty()) continue;
    std::string found;
    for (const Env* env = at.env; env; env = env->parent)
      for (const auto& [name, entity] : env->names)
        if (auto* dim = std::get_if<DimEntity>(&entity); dim && dim->size == at.shape->back())
          if (found.empty() || name < found) found = name;
    return found.empty() ? std::to_string(at.shape->back()) : found;
  }
  return "4";
}

void IndexSpace::solve_ranges() {
  for (std::size_t i = accesses_done_; i < accesses_.size(); ++i) {
    const IndexedAccess& at = accesses_[i];
    if (!at.shape) continue;
    std::vector<AxisIndex> axes = expand(at);
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      if (axes[axis].kind == AxisIndex::Kind::variable)
        candidates_[axes[axis].var.index()].push_back({(*at.shape)[axis], axes[axis].span, at.left, at.bounded, i});
  }
  bool progress = true;
  while (progress) {
    progress = false;
    for (std::size_t i = 0; i < vars_.size(); ++i)  // resolving may add a counter
      if (!vars_[i].resolved && vars_[i].lo) progress |= resolve_written(VarId(i));
    if (progress) continue;
    for (std::size_t i = 0; i < vars_.size() && !progress; ++i) {
      IndexVar& var = vars_[i];
      if (var.resolved || var.lo) continue;
      // The left dims decide first, then reads, then bounded reads.
      auto weight = [](const Candidate& c) { return c.left ? 0 : c.bounded ? 2 : 1; };
      const Candidate* chosen = nullptr;
      for (const auto& c : candidates_[i])
        if (!chosen || weight(c) < weight(*chosen)) chosen = &c;
      if (!chosen) {
        std::string range = var.name + " in 0.." + example_size(accesses_);
        elaboration_.fail(
            Diagnostic(Code::range_unknown, var.span,
                       "the range of " + quoted(var.name) + " is unknown: no axis that is " +
                           (var.role == VarRole::left ? "written or read" : "read") + " is indexed by " +
                           quoted(var.name) + " alone")
                .help("write it, for example " + quoted(var.role == VarRole::left ? "… for " + range : range)));
      }
      for (const auto& c : candidates_[i])
        if (weight(c) == weight(*chosen) && c.size != chosen->size)
          elaboration_.fail(Diagnostic(Code::range_disagrees, c.span,
                                       "the ranges of " + quoted(var.name) + " disagree: 0.." + std::to_string(c.size) +
                                           " here, 0.." + std::to_string(chosen->size) + " elsewhere")
                                .at_caret("size " + std::to_string(c.size))
                                .label(chosen->span, "size " + std::to_string(chosen->size))
                                .help("write the intended range: " +
                                      quoted(var.name + " in 0.." + std::to_string(std::min(c.size, chosen->size)))));
      var.range = {0, chosen->size};
      var.resolved = true;
      progress = true;
    }
  }
  for (const auto& var : vars_)
    if (!var.resolved)
      elaboration_.fail(
          Diagnostic(Code::cyclic_definition, var.span, "the range of " + quoted(var.name) + " depends on itself"));
}

// d[i] = A[i, i] of a matrix that is not square covers one of the axes, which is all it can.
std::vector<IndexSpace::PartlyRead> IndexSpace::partly_read() const {
  std::vector<PartlyRead> found;
  // If another axis is too short, the read is out of bounds, which is reported instead: the indices may be exchanged.
  for (std::size_t v = 0; v < vars_.size(); ++v)
    for (const Candidate& c : candidates_[v])
      if (!c.left && !c.bounded && c.size < vars_[v].range.hi) return found;
  for (std::size_t v = 0; v < vars_.size(); ++v) {
    const IndexVar& var = vars_[v];
    const std::vector<Candidate>& candidates = candidates_[v];
    bool by_left = std::any_of(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.left; });
    if (var.role != VarRole::left || var.lo || !by_left) continue;
    for (const Candidate& c : candidates) {
      bool whole = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
        return other.access == c.access && other.size == var.range.hi;
      });
      if (c.left || c.bounded || whole || c.size <= var.range.hi) continue;
      found.push_back({VarId(v), c.span, accesses_[c.access].tensor, c.size});
      break;
    }
  }
  return found;
}

// Constant bounds give a range; bounds that depend on other variables also give constraints.
bool IndexSpace::resolve_written(VarId self) {
  auto bound = [&](ast::ExprId id) {
    const std::string name = vars_[self.index()].name;
    IndexValue value = value_of(*vars_[self.index()].bounds_env, id);
    if (auto* data = std::get_if<DependsOnData>(&value))
      elaboration_.fail(
          Diagnostic(Code::not_affine, data->span,
                     "the bound of " + quoted(name) + " depends on data; bounds must be affine in index variables"));
    if (auto* no = std::get_if<NotAffine>(&value))
      elaboration_.fail(Diagnostic(Code::not_affine, no->span, no->message)
                            .help(!no->help.empty()
                                      ? no->help
                                      : "use a wider affine range and bound the read, `sum[k in i - 1..i + 2] "
                                        "x[k else 0]`, or select, `if k < m then x[k] else 0`"));
    return std::get<VarAffine>(value);
  };
  VarAffine lo = bound(*vars_[self.index()].lo), hi = bound(*vars_[self.index()].hi);
  IndexVar& var = vars_[self.index()];
  for (const auto& [other, coefficient] : lo.terms)
    if (!vars_[other.index()].resolved) return false;
  for (const auto& [other, coefficient] : hi.terms)
    if (!vars_[other.index()].resolved) return false;
  ir::Range low = bounds(lo), high = bounds(hi);
  if (low.empty() || high.empty()) var.range = {0, 0};
  else var.range = {low.lo, std::max(low.lo, high.hi - 1)};
  countable(elaboration_, var.range, join((*var.bounds_env)[*var.lo].span, (*var.bounds_env)[*var.hi].span));
  VarAffine me{{{self, 1}}, 0};
  if (!lo.is_constant()) var.constraints.push_back(me - lo);
  if (!hi.is_constant()) var.constraints.push_back(hi - me - VarAffine{{}, 1});
  var.resolved = true;
  return true;
}

}  // namespace tap
