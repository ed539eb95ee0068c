// Loops of scans and scatters (patterns.h), in linear work.
#include <algorithm>

#include "backend/lowering.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

AffineExpr Lowering::shifted(AffineExpr e, std::uint32_t v, std::int64_t by) const {
  e.offset = checked::add(e.offset, checked::mul(e.coefficients[v], by));
  return e;
}

// Where a parallel dim is empty there is no point at which reads were proved to lie inside.
std::vector<Statement> Lowering::if_any_result(std::vector<Statement> body) const {
  Guard guard;
  for (std::size_t d : dims_with(false))
    guard.conditions.push_back(
        {plus(plus(variable(frame_.hi[d]), variable(frame_.lo[d]), -1), number(-1)), Comparison::at_least_zero});
  guard.body = std::move(body);
  return {{std::move(guard)}};
}

// The accumulators run along with the parallel dim: at each step only what the bound newly admits is combined. A box that
// starts later first combines what lies before it.
std::vector<Statement> Lowering::scan_body(const Scan& scan) {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  std::vector<std::size_t> outer, inner_reductions;
  std::vector<bool> outside(op_.dims.size(), false);
  for (std::size_t d : dims_with(false)) {
    outside[d] = true;
    if (d != scan.dim) outer.push_back(d);
  }
  for (std::size_t d : dims_with(true))
    if (d != scan.reduced) inner_reductions.push_back(d);
  outside[scan.reduced] = true;
  State state = new_state(monoid, 1, 1);
  Statement step = accumulate(monoid, state, scan.descending);
  std::vector<Statement> reduce = nest(inner_reductions, outside, {step});

  outside[scan.reduced] = false;
  For admitted = loop(scan.reduced, outside);
  admitted.descending = scan.descending;
  admitted.body = reduce;
  auto& moving = scan.descending ? admitted.lower : admitted.upper;
  const std::uint32_t i = frame_.at[scan.dim];
  auto follows =
      std::find_if(moving.begin(), moving.end(), [&](const Bound& b) { return b.expr.coefficients[i] != 0; });
  TAP_CHECK(follows != moving.end(), "a scan's bound follows its dim");
  const AffineExpr bound = follows->expr;

  // Before the first step: the loop as of the step before, whose index is lo-1 (descending: hi).
  For before = admitted;
  AffineExpr first = shifted(bound, i, scan.descending ? 0 : -1);
  std::uint32_t start = scan.descending ? frame_.hi[scan.dim] : frame_.lo[scan.dim];
  std::swap(first.coefficients[i], first.coefficients[start]);
  (scan.descending ? before.lower : before.upper)[static_cast<std::size_t>(follows - moving.begin())].expr = first;

  auto& opposite = scan.descending ? admitted.upper : admitted.lower;
  opposite.push_back({shifted(bound, i, scan.descending ? 1 : -1), 1});

  For run = loop(scan.dim, std::vector<bool>(op_.dims.size(), false));
  run.descending = scan.descending;
  run.body.push_back({std::move(admitted)});
  run.body.push_back({store(state.values)});
  return if_any_result(
      whole_nest(outer, {{assign(state.slots, identity(monoid))}, {std::move(before)}, {std::move(run)}}));
}

std::vector<CellId> Lowering::result_cells(const Monoid& monoid, bool inside) {
  std::vector<CellId> result;
  for (const Store::Target& target : kept(std::vector<CellId>(op_.writes.size(), CellId{0})).targets) {
    Load load;
    load.tensor = target.tensor;
    load.anywhere = inside;
    for (const AffineExpr& at : target.at) load.at.push_back({at, {}, false});
    kernel_.loads.push_back(load);
    result.push_back(kernel_.exprs.read(static_cast<std::uint32_t>(kernel_.loads.size() - 1),
                                        monoid.components[result.size()].type));
  }
  return result;
}

// What one point of the reduction contributes: where it goes, if that lies in the box, combined into what is there.
std::vector<Statement> Lowering::scatter_point(const Scatter& scatter, const Monoid& monoid) {
  std::vector<CellId> later;
  for (CellId id : scatter.operands) later.push_back(cell(id));
  std::vector<Statement> inner{{store(combination(monoid, result_cells(monoid, false), later))}};
  for (std::size_t c = scatter.conditions.size(); c-- > 0;) {
    Guard guard{{}, cell(scatter.conditions[c]), std::move(inner)};
    inner.clear();
    inner.push_back({std::move(guard)});
  }
  for (std::size_t t = scatter.targets.size(); t-- > 0;) {
    std::size_t dim = scatter.targets[t].dim;
    AffineExpr v = variable(frame_.at[dim]);
    Guard guard;
    guard.conditions.push_back({v - variable(frame_.lo[dim]), Comparison::at_least_zero});
    guard.conditions.push_back({variable(frame_.hi[dim]) - v - number(1), Comparison::at_least_zero});
    guard.body = std::move(inner);
    inner.clear();
    inner.push_back({Let{frame_.at[dim], cell(scatter.targets[t].value)}});
    inner.push_back({std::move(guard)});
  }
  return inner;
}

// All cells start as the identity; then one pass over the reduction combines each point into the cell it names. Dims that
// the target depends on go outside of the reduction, the others inside.
std::vector<Statement> Lowering::scatter_body(const Scatter& scatter) {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  std::vector<Statement> all = whole_nest(dims_with(false), {{store(identity(monoid))}});
  std::vector<std::size_t> order, inside;
  for (std::size_t d : dims_with(false)) {
    auto is_this = [&](const Scatter::Target& t) { return t.dim == d; };
    auto follows = [&](const Scatter::Target& t) { return depends_on(op_, t.value, d); };
    if (std::any_of(scatter.targets.begin(), scatter.targets.end(), is_this)) continue;
    bool needed = std::any_of(scatter.targets.begin(), scatter.targets.end(), follows);
    (needed ? order : inside).push_back(d);
  }
  for (std::size_t d : dims_with(true)) order.push_back(d);
  order.insert(order.end(), inside.begin(), inside.end());
  for (auto& s : whole_nest(order, scatter_point(scatter, monoid))) all.push_back(std::move(s));
  return if_any_result(std::move(all));
}

}  // namespace tap::backend
