// Affine expressions of index variables: arithmetic, ranges, and the expression at an axis.
#include <algorithm>

#include "compiler/frontend/cells/index_space.h"
#include "support/checked.h"

namespace tap {

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
    elaboration_.fail(std::move(d));
  }
  if (auto* data = std::get_if<DependsOnData>(&value))
    elaboration_.fail(Diagnostic(Code::data_dependent_write, data->span,
                                 "a written coordinate depends on data; it must be affine in index variables"));
  return std::get<VarAffine>(value);
}

}  // namespace tap
