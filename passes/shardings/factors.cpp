#include "passes/shardings/factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "ir/text_names.h"

namespace tap::passes {
namespace {

using ir::AffineExpr;

struct Term {
  std::uint32_t dim = 0;
  std::int64_t coefficient = 1;
};

// The terms of one axis of one access.
struct AxisAccess {
  std::vector<Term> terms;  // larger steps first; dims of one point only if there are no others
  std::int64_t offset = 0;
  std::int64_t region = 1;  // cells for one index point
  std::int64_t extent = 1;
  bool whole = false;  // a data-dependent coordinate
};

class FactorFinder {
 public:
  explicit FactorFinder(const ir::Operator& op) : op_(op) {
    for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
      const ir::IndexDim& dim = op.dims[d];
      FactorKind kind = dim.keep                             ? FactorKind::need_replication
                        : dim.role == ir::DimRole::reduction ? FactorKind::reduction
                                                             : FactorKind::pass_through;
      out_.factors.push_back({ir::variable_names(op)[d], dim.range.size(), kind, d, dim.keep});
    }
  }

  Factors find() {
    if (has_empty_compound()) return {};
    // Sizes and kinds first: a window shortens a factor in all of its uses.
    for (bool write : {false, true})
      for (const ir::Access& access : write ? op_.writes : op_.reads)
        for (std::size_t a = 0; a < access.projection.rank(); ++a) note(axis_of(access, a, write), !write);
    collect(op_.reads, false, out_.operands);
    collect(op_.writes, true, out_.results);
    drop_unused();
    return std::move(out_);
  }

 private:
  std::int64_t size_of(std::uint32_t dim) const { return op_.dims[dim].range.size(); }

  AxisAccess axis_of(const ir::Access& access, std::size_t a, bool write) const {
    const AffineExpr& row = access.projection.start.rows[a];
    AxisAccess axis;
    axis.offset = row.offset;
    axis.region = access.projection.shape[a];
    axis.extent = (write ? op_.results : op_.operands)[access.tensor].shape[a];
    axis.whole = !access.coordinates.empty() && access.coordinates[a].has_value();
    for (std::uint32_t d = 0; d < row.coefficients.size(); ++d)
      if (row.coefficients[d] != 0 && op_.dims[d].role != ir::DimRole::counter) {
        axis.terms.push_back({d, row.coefficients[d]});
        axis.offset += row.coefficients[d] * op_.dims[d].range.lo;
      }
    bool large = std::any_of(axis.terms.begin(), axis.terms.end(), [&](Term t) { return size_of(t.dim) != 1; });
    if (large) std::erase_if(axis.terms, [&](Term t) { return size_of(t.dim) == 1; });
    else if (!axis.terms.empty()) axis.terms.resize(1);
    std::stable_sort(axis.terms.begin(), axis.terms.end(),
                     [](Term a, Term b) { return std::abs(a.coefficient) > std::abs(b.coefficient); });
    return axis;
  }

  // Each cell has one index point: mixed-radix digits that together cover the whole axis.
  bool is_exact(const AxisAccess& axis) const {
    std::int64_t step = axis.region;
    for (std::size_t k = axis.terms.size(); k-- > 0;) {
      if (axis.terms[k].coefficient != step) return false;
      step *= size_of(axis.terms[k].dim);
    }
    return axis.offset == 0 && step == axis.extent;
  }

  // A window: the factor with more points is the major one, and the other has the rest of the axis.
  void shorten_window(const AxisAccess& axis) {
    std::int64_t left = axis.extent;
    for (const Term& term : by_size(axis)) {
      Factor& factor = out_.factors[term.dim];
      if (left > 1) factor.size = std::min(factor.size, left);
      left /= std::max<std::int64_t>(1, std::min(size_of(term.dim), left));
    }
  }
  std::vector<Term> by_size(const AxisAccess& axis) const {
    std::vector<Term> terms = axis.terms;
    // If sizes are equal, the result's dim is the major one.
    std::stable_sort(terms.begin(), terms.end(), [&](Term a, Term b) {
      auto rank = [&](Term t) { return std::tuple(-size_of(t.dim), op_.dims[t.dim].role == ir::DimRole::reduction); };
      return rank(a) < rank(b);
    });
    return terms;
  }

  void note(const AxisAccess& axis, bool read) {
    if (axis.whole || axis.terms.empty() || is_exact(axis)) return;
    for (const Term& term : axis.terms) {
      Factor& factor = out_.factors[term.dim];
      factor.moves = true;
      if (factor.kind == FactorKind::pass_through) factor.kind = FactorKind::permutation;
    }
    if (axis.terms.size() > 1) return shorten_window(axis);
    // A slice of an axis, or a padded axis: the factor is the axis that is read.
    Factor& factor = out_.factors[axis.terms[0].dim];
    if (read && axis.region == 1 && factor.size != axis.extent && size_of(*factor.dim) == factor.size)
      factor.size = axis.extent;
  }

  std::vector<std::uint32_t> factors_of_axis(const AxisAccess& axis,
                                             std::tuple<bool, std::uint32_t, std::size_t> where) {
    std::vector<std::uint32_t> list;
    if (axis.whole || axis.terms.empty()) return {of_axis_alone(axis, where)};
    if (is_exact(axis)) {
      for (const Term& term : axis.terms) list.push_back(term.dim);
      return list;
    }
    std::int64_t left = axis.extent;
    for (const Term& term : axis.terms.size() > 1 ? by_size(axis) : axis.terms) {
      if (left <= 1 && !list.empty()) break;
      list.push_back(term.dim);
      left /= std::max<std::int64_t>(1, std::min(size_of(term.dim), left));
    }
    return list;
  }

  // An axis without an index dim: its reads are fixed or data-dependent.
  std::uint32_t of_axis_alone(const AxisAccess& axis, std::tuple<bool, std::uint32_t, std::size_t> where) {
    auto [it, fresh] = alone_.try_emplace(where, static_cast<std::uint32_t>(out_.factors.size()));
    if (fresh) {
      auto [write, tensor, a] = where;
      std::string name = write ? ir::result_name(op_, tensor) : ir::operand_name(op_, tensor);
      out_.factors.push_back({fmt::format("#{}{}", name, a), axis.extent,
                              axis.extent <= 1 ? FactorKind::pass_through : FactorKind::need_replication});
    }
    return it->second;
  }

  void collect(const std::vector<ir::Access>& accesses, bool write, std::vector<TensorFactors>& list) {
    for (const ir::Access& access : accesses) {
      TensorFactors tensor{access.tensor, {}};
      std::vector<bool> seen(out_.factors.size());
      for (std::size_t a = 0; a < access.projection.rank(); ++a) {
        AxisAccess axis = axis_of(access, a, write);
        AxisFactors found{factors_of_axis(axis, {write, access.tensor, a})};
        // A diagonal: the second axis cannot be split by the axes of the first.
        seen.resize(out_.factors.size());
        if (std::any_of(found.factors.begin(), found.factors.end(), [&](std::uint32_t f) { return seen[f]; }))
          found.factors = {of_axis_alone(axis, {write, access.tensor, a})};
        seen.resize(out_.factors.size());
        for (std::uint32_t f : found.factors) seen[f] = true;
        std::tie(found.before, found.after) = halo(axis);
        tensor.axes.push_back(std::move(found));
      }
      add(list, std::move(tensor));
    }
  }

  // How far one block reads into its neighbours, for steps of one cell.
  std::pair<std::int64_t, std::int64_t> halo(const AxisAccess& axis) const {
    if (axis.whole || axis.terms.empty() || is_exact(axis)) return {0, 0};
    std::vector<Term> terms = by_size(axis);
    if (terms[0].coefficient < 1) return {0, 0};
    std::int64_t low = axis.offset, high = axis.offset + axis.region - terms[0].coefficient;
    for (std::size_t k = 1; k < terms.size(); ++k) {
      std::int64_t reach = terms[k].coefficient * (size_of(terms[k].dim) - 1);
      (reach < 0 ? low : high) += reach;
    }
    return {std::max<std::int64_t>(0, -low), std::max<std::int64_t>(0, high)};
  }

  // One entry for accesses of one tensor by the same factors, with the union of their windows.
  static void add(std::vector<TensorFactors>& list, TensorFactors tensor) {
    for (TensorFactors& other : list) {
      if (other.tensor != tensor.tensor) continue;
      bool same = std::equal(other.axes.begin(), other.axes.end(), tensor.axes.begin(),
                             [](const AxisFactors& a, const AxisFactors& b) { return a.factors == b.factors; });
      if (!same) continue;
      for (std::size_t a = 0; a < other.axes.size(); ++a) {
        other.axes[a].before = std::max(other.axes[a].before, tensor.axes[a].before);
        other.axes[a].after = std::max(other.axes[a].after, tensor.axes[a].after);
      }
      return;
    }
    list.push_back(std::move(tensor));
  }

  // Nothing can be split without cells, and digits of an empty axis are meaningless.
  bool has_empty_compound() const {
    bool compound = false;
    for (bool write : {false, true})
      for (const ir::Access& access : write ? op_.writes : op_.reads)
        for (std::size_t a = 0; a < access.projection.rank(); ++a)
          compound = compound || axis_of(access, a, write).terms.size() > 1;
    return compound && op_.box().empty();
  }

  // Dims that no tensor has: counters, and dims that only repeat.
  void drop_unused() {
    std::vector<std::uint32_t> now(out_.factors.size(), ~0u);
    std::vector<Factor> kept;
    for (std::uint32_t f = 0; f < out_.factors.size(); ++f) {
      auto used = [&](const TensorFactors& tensor) { return has_factor(tensor, f); };
      if (std::none_of(out_.operands.begin(), out_.operands.end(), used) &&
          std::none_of(out_.results.begin(), out_.results.end(), used))
        continue;
      now[f] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(out_.factors[f]));
    }
    out_.factors = std::move(kept);
    for (auto* list : {&out_.operands, &out_.results})
      for (TensorFactors& tensor : *list)
        for (AxisFactors& axis : tensor.axes)
          for (std::uint32_t& f : axis.factors) f = now[f];
  }

  const ir::Operator& op_;
  Factors out_;
  std::map<std::tuple<bool, std::uint32_t, std::size_t>, std::uint32_t> alone_;  // by result or operand, number, axis
};

std::string axes_text(const Factors& all, const TensorFactors& tensor) {
  std::string text = "[";
  for (std::size_t a = 0; a < tensor.axes.size(); ++a) {
    if (a > 0) text += ", ";
    for (std::size_t k = 0; k < tensor.axes[a].factors.size(); ++k)
      text += (k > 0 ? " " : "") + all.factors[tensor.axes[a].factors[k]].name;
  }
  return text + "]";
}

}  // namespace

Factors factors_of(const ir::Operator& op) { return FactorFinder(op).find(); }

bool has_factor(const TensorFactors& tensor, std::uint32_t factor) {
  return std::any_of(tensor.axes.begin(), tensor.axes.end(), [&](const AxisFactors& axis) {
    return std::find(axis.factors.begin(), axis.factors.end(), factor) != axis.factors.end();
  });
}

bool is_broadcast(const Factors& factors, std::size_t operand) {
  for (std::uint32_t f = 0; f < factors.factors.size(); ++f) {
    if (factors.factors[f].size == 1 || has_factor(factors.operands[operand], f)) continue;
    for (const TensorFactors& result : factors.results)
      if (has_factor(result, f)) return true;
  }
  return false;
}

bool moves_no_data(const ir::Operator& op, const Factors& factors) {
  if (!op.map() || factors.operands.empty()) return false;
  for (const Factor& factor : factors.factors)
    if (factor.kind != FactorKind::pass_through) return false;
  bool any_whole = false, any = false;
  for (std::size_t k = 0; k < factors.operands.size(); ++k) {
    if (factors.operands[k].axes.empty()) continue;
    any = true;
    any_whole = any_whole || !is_broadcast(factors, k);
  }
  return any_whole || !any;
}

std::string to_string(const Factors& factors) {
  std::string text = "(";
  for (std::size_t k = 0; k < factors.operands.size(); ++k)
    text += (k > 0 ? ", " : "") + axes_text(factors, factors.operands[k]);
  text += ")->(";
  for (std::size_t k = 0; k < factors.results.size(); ++k)
    text += (k > 0 ? ", " : "") + axes_text(factors, factors.results[k]);
  text += ")";
  std::string sizes;
  for (const Factor& factor : factors.factors)
    sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ", ", factor.name, factor.size);
  if (!sizes.empty()) text += " {" + sizes + "}";
  constexpr std::pair<FactorKind, std::string_view> kinds[] = {{FactorKind::reduction, "reduction"},
                                                               {FactorKind::need_replication, "replicated"},
                                                               {FactorKind::permutation, "permutation"}};
  for (const auto& [kind, word] : kinds) {
    std::string list;
    for (const Factor& factor : factors.factors)
      if (factor.kind == kind) list += (list.empty() ? "" : ", ") + factor.name;
    if (!list.empty()) text += fmt::format(" {}={{{}}}", word, list);
  }
  return text;
}

}  // namespace tap::passes
