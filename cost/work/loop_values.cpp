#include "cost/work/loop_values.h"

#include <algorithm>
#include <cmath>

namespace tap::cost {

namespace {

// Expressions of a large kernel have hundreds of variables, almost all of them with the coefficient 0.
template <class Take>
void for_each_term(const ir::AffineExpr& expr, Take take) {
  constexpr std::size_t together = 8;
  const std::vector<std::int64_t>& c = expr.coefficients;
  for (std::size_t first = 0; first < c.size(); first += together) {
    const std::size_t end = std::min(first + together, c.size());
    std::int64_t any = 0;
    for (std::size_t v = first; v < end; ++v) any |= c[v];
    if (any == 0) continue;
    for (std::size_t v = first; v < end; ++v)
      if (c[v] != 0) take(v, c[v]);
  }
}

}  // namespace

using backend::Bound, backend::For, backend::LoopKind;

LoopValues::LoopValues(const backend::Kernel& kernel, const ir::Box& box)
    : values_(kernel.variables.size()), loops_(kernel.variables.size(), 0) {
  for (std::size_t d = 0; d < kernel.dims && d < box.rank(); ++d) {
    const auto lo = static_cast<double>(box.dims[d].lo), hi = static_cast<double>(box.dims[d].hi);
    values_[kernel.lo(d)] = {lo, lo};
    values_[kernel.hi(d)] = {hi, hi};
  }
}

Terms terms_of(const ir::AffineExpr& expr) {
  Terms found{static_cast<double>(expr.offset), {}};
  for_each_term(expr, [&](std::size_t v, std::int64_t coefficient) {
    found.terms.push_back({static_cast<std::uint32_t>(v), static_cast<double>(coefficient)});
  });
  return found;
}

void LoopValues::add(Interval& sum, std::size_t variable, double factor) const {
  const Interval& value = values_[variable];
  sum.lo += factor * (factor > 0 ? value.lo : value.hi);
  sum.hi += factor * (factor > 0 ? value.hi : value.lo);
}

Interval LoopValues::of(const ir::AffineExpr& expr) const {
  Interval sum{static_cast<double>(expr.offset), static_cast<double>(expr.offset)};
  for_each_term(expr, [&](std::size_t v, std::int64_t factor) { add(sum, v, static_cast<double>(factor)); });
  return sum;
}

Interval LoopValues::of(const Terms& expr) const {
  Interval sum{expr.offset, expr.offset};
  for (const Terms::Term& term : expr.terms) add(sum, term.variable, term.factor);
  return sum;
}

LoopSet LoopValues::loops_of(const ir::AffineExpr& expr) const {
  LoopSet found = 0;
  for_each_term(expr, [&](std::size_t v, std::int64_t) { found |= loops_[v]; });
  return found;
}

void LoopValues::set(std::uint32_t variable, Interval value, LoopSet loops) {
  values_[variable] = value;
  loops_[variable] = loops;
}

Interval LoopValues::bound(const std::vector<Bound>& bounds, bool lower) const {
  Interval found;
  bool first = true;
  for (const Bound& bound : bounds) {
    Interval one = of(bound.expr);
    const auto divisor = static_cast<double>(bound.divisor);
    if (bound.divisor != 1) {
      auto whole = [&](double x) { return lower ? std::ceil(x / divisor) : std::floor(x / divisor); };
      one = {whole(one.lo), whole(one.hi)};
    }
    auto better = [&](double a, double b) { return lower ? std::max(a, b) : std::min(a, b); };
    found = first ? one : Interval{better(found.lo, one.lo), better(found.hi, one.hi)};
    first = false;
  }
  return found;
}

void LoopValues::define(const backend::Define& define) {
  LoopSet loops = 0;
  for (const Bound& bound : define.bounds) loops |= loops_of(bound.expr);
  set(define.variable, bound(define.bounds, define.greatest), loops);
}

Rounds rounds_of(const For& loop, const LoopValues& values) {
  Rounds rounds;
  rounds.first = values.bound(loop.lower, true).middle();
  if (loop.kind == LoopKind::serial) {
    const double size = std::max(values.bound(loop.upper, false).middle() - rounds.first, 0.0);
    const auto step = static_cast<double>(loop.step);
    rounds.count = loop.step == 1 ? size : std::ceil(size / step);
    rounds.last = rounds.first + std::max(std::ceil(rounds.count) - 1, 0.0) * step;
    return rounds;
  }
  rounds.count = loop.count;
  rounds.last = rounds.first + static_cast<double>(loop.count) - 1;
  if (loop.kind == LoopKind::unrolled) return rounds;
  rounds.lanes = rounds.used = rounds.count;
  if (loop.upper.empty()) return rounds;
  rounds.used = std::clamp(values.bound(loop.upper, false).middle() - rounds.first, 0.0, rounds.lanes);
  rounds.last = rounds.first + std::max(rounds.used - 1, 0.0);
  return rounds;
}

}  // namespace tap::cost
