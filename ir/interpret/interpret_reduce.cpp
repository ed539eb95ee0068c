// Values are combined in order, one after another. Bounds must hold for any order of combination that the language allows:
//
// - sums: γ(n)·Σ|t| + Σe, for any order (Higham, Accuracy and Stability, 4.2), as long as Σ|t| does not overflow;
// - products: between Π(|t|-e) and Π(|t|+e) times 1+γ(n), likewise;
// - max and min: the largest error of a term;
// - any other combination: the error of combining in order, each combination's rounding included and carried through the
//   later ones, times 2·(1 + ⌈log2 n⌉). The reason: another tree forms partial results of ranges [i, j) that the chain
//   does not form. Where partial results can be undone, such a one is a difference of two of the chain's prefixes, so its
//   rounding is at most the sum of theirs (the factor 2); and in the trees that are used (chains of blocks, lanes and
//   shards, themselves combined in a balanced tree or a chain) a prefix is the end of at most 1 + ⌈log2 n⌉ ranges. Where
//   they cannot be undone (max, the online softmax, argmax) the chain's errors already dominate.
#include "ir/interpret/interpret_reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/interpret/interpret_bounds.h"
#include "support/check.h"

namespace tap::ir::oracle {
namespace {

double greatest_partial(ElementType type) {
  return compute_type(type) == ElementType::f64 ? std::numeric_limits<double>::max()
                                                : std::numeric_limits<float>::max();
}

// γ(n) = n·u / (1 - n·u)
double gamma(std::int64_t n, ElementType type) {
  double nu = static_cast<double>(n) * unit_roundoff(type);
  return nu < 0.5 ? nu / (1 - nu) : infinity;
}

double error_of_sum(const ComponentState& s, ElementType type) {
  double sum = s.magnitude + s.errors;
  if (!(sum <= greatest_partial(type))) return infinity;
  if (s.non_finite) return 0;  // infinite or NaN in any order
  return s.errors + gamma(s.terms, type) * sum + static_cast<double>(s.terms) * smallest_normal(type);
}

double error_of_product(const ComponentState& s, ElementType type) {
  if (!(s.growth <= greatest_partial(type))) return infinity;
  if (s.non_finite) return s.errors == 0 && s.shrinkage > smallest_normal(type) ? 0 : infinity;
  double g = gamma(s.terms, type);
  double underflow = static_cast<double>(s.terms) * smallest_normal(type) * s.growth;
  return (s.greatest - s.magnitude) + 2 * g * s.greatest + underflow;
}

}  // namespace

Combiner::Combiner(const Monoid& monoid, bool with_bounds)
    : with_bounds_(with_bounds), cells_(monoid.exprs, with_bounds) {
  std::size_t n = monoid.arity();
  for (std::size_t k = 0; k < n; ++k) {
    Component c{monoid.components[k].type, Kind::general, CellOp::add, monoid.combine[k], {}};
    const CellNode& identity = monoid.exprs[monoid.identity[k]];
    TAP_CHECK(identity.op == CellOp::constant, "the identity of `" + monoid.name + "` is not constant");
    c.identity.value = number_of(identity.value);
    const CellNode& node = monoid.exprs[c.combine];
    auto is_argument = [&](std::size_t at, std::size_t number) {
      const CellNode& arg = monoid.exprs[node.args[at]];
      return arg.op == CellOp::argument && arg.attribute == number;
    };
    if (node.args.size() == 2 && is_argument(0, k) && is_argument(1, n + k)) {
      c.op = node.op;
      if (node.op == CellOp::add) c.kind = Kind::sum;
      if (node.op == CellOp::mul) c.kind = Kind::product;
      if (node.op == CellOp::max || node.op == CellOp::min) c.kind = Kind::extremum;
    }
    general_ = general_ || c.kind == Kind::general;
    components_.push_back(c);
  }
  cells_.expect_arguments(2 * n);
  block_ = cells_.compile(monoid.combine);
  scratch_.resize(2 * n);
}

void Combiner::reset(ComponentState* state) const {
  for (std::size_t k = 0; k < components_.size(); ++k) {
    state[k] = {components_[k].identity};
    if (components_[k].kind == Kind::product) state[k].magnitude = 1;
    if (with_bounds_) account(state[k], components_[k], components_[k].identity);
  }
}

void Combiner::append(ComponentState* state, const Cell* later) {
  for (std::size_t k = 0; k < arity(); ++k) scratch_[k] = state[k].cell;
  combine(state, scratch_.data(), later);
  for (std::size_t k = 0; with_bounds_ && k < arity(); ++k) account(state[k], components_[k], later[k]);
}

void Combiner::prepend(ComponentState* state, const Cell* earlier) {
  for (std::size_t k = 0; k < arity(); ++k) scratch_[k] = state[k].cell;
  combine(state, earlier, scratch_.data());
  for (std::size_t k = 0; with_bounds_ && k < arity(); ++k) account(state[k], components_[k], earlier[k]);
}

void Combiner::combine(ComponentState* state, const Cell* earlier, const Cell* later) {
  std::size_t n = arity();
  if (general_) {
    for (std::size_t k = 0; k < n; ++k) {
      cells_.argument(k) = earlier[k];
      cells_.argument(n + k) = later[k];
    }
    cells_.begin_point();
    cells_.run(block_);
    for (std::size_t k = 0; k < n; ++k) state[k].cell = cells_[components_[k].combine];
    return;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const Component& c = components_[k];
    Number r = is_float(c.type) ? apply_float(c.op, earlier[k].value, later[k].value)
                                : apply_integer(c.op, c.type, earlier[k].value, later[k].value);
    state[k].cell = {r, with_bounds_ ? error_of(c.op, c.type, earlier[k], later[k], r) : 0};
  }
}

void Combiner::account(ComponentState& state, const Component& component, const Cell& term) const {
  ++state.terms;
  if (component.kind == Kind::general || !is_float(component.type)) return;
  double t = std::fabs(term.value.f);
  if (component.kind == Kind::extremum) {
    state.errors = std::max(state.errors, term.error);
  } else if (!std::isfinite(t)) {
    state.non_finite = true;
    if (term.error > 0) state.errors = infinity;
  } else if (component.kind == Kind::sum) {
    state.errors += term.error;
    state.magnitude += t;
  } else {
    if (term.error > 0 && t <= term.error) state.errors = 1;
    state.magnitude *= t;
    state.greatest *= t + term.error;
    state.growth *= std::max(1.0, t + term.error);
    state.shrinkage *= std::min(1.0, t);
  }
}

Cell Combiner::result(const ComponentState* state, std::size_t component) const {
  const ComponentState& s = state[component];
  if (!with_bounds_) return s.cell;
  const Component& c = components_[component];
  if (!is_float(c.type)) return s.cell;
  switch (c.kind) {
    case Kind::sum: return {s.cell.value, error_of_sum(s, c.type)};
    case Kind::product: return {s.cell.value, error_of_product(s, c.type)};
    case Kind::extremum: return {s.cell.value, s.errors};
    case Kind::general: break;
  }
  double depth = 1 + std::ceil(std::log2(static_cast<double>(std::max<std::int64_t>(s.terms, 1))));
  return {s.cell.value, s.cell.error == 0 ? 0 : s.cell.error * 2 * depth};
}

}  // namespace tap::ir::oracle
