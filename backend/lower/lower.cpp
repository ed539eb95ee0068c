// From an operator to its loops. Dims become loops in the order parallel, then reduction, each as declared, so that
// reductions combine in increasing index order; a constraint becomes a bound of the innermost loop whose variable it
// uses, so no point outside the domain is visited. Scans and scatters (lower_patterns.cpp) have their own linear loops.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "backend/loops/cell_placement.h"
#include "backend/lower/lower_group.h"
#include "backend/lower/lowering.h"
#include "ir/graph.h"
#include "ir/rounding.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

AffineExpr Lowering::over_variables(const AffineExpr& over_dims) const {
  AffineExpr e = number(over_dims.offset);
  for (std::size_t d = 0; d < op_.dims.size(); ++d) e.coefficients[frame_.at[d]] = over_dims.coefficients[d];
  return e;
}

// Either may have fewer coefficients than there are variables.
AffineExpr Lowering::plus(AffineExpr a, AffineExpr b, std::int64_t factor) const {
  a.coefficients.resize(kernel_.variables.size());
  b.coefficients.resize(kernel_.variables.size());
  return a + scale(b, factor);
}

std::uint32_t Lowering::new_variable(std::string name) {
  kernel_.variables.push_back(std::move(name));
  return static_cast<std::uint32_t>(kernel_.variables.size() - 1);
}

void Lowering::declare_loads() {
  cells_.resize(op_.exprs.size());
  for (const Access& access : op_.reads) {
    if (is_given(access)) {
      loads_.push_back(no_tensor);
      continue;
    }
    loads_.push_back(static_cast<std::uint32_t>(kernel_.loads.size()));
    kernel_.loads.push_back(load_of(access));
  }
  // Coordinates and fills are cells that may contain reads, so they come after all loads are numbered.
  for (std::size_t r = 0; r < op_.reads.size(); ++r) {
    const Access& access = op_.reads[r];
    if (is_given(access)) continue;
    for (std::size_t axis = 0; axis < access.coordinates.size(); ++axis) {
      if (!access.coordinates[axis]) continue;
      CellId data = cell(*access.coordinates[axis]);
      kernel_.loads[loads_[r]].at[axis].data = data;
    }
    if (access.fill) {
      CellId fill = cell(*access.fill);
      kernel_.loads[loads_[r]].fill = fill;
    }
  }
}

Load Lowering::load_of(const Access& access) {
  Load load;
  load.tensor = frame_.operands[access.tensor];
  const Shape& shape = op_.operands[access.tensor].shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    bool from_data = axis < access.coordinates.size() && access.coordinates[axis];
    const AffineExpr& start = access.projection.start.rows[axis];
    Range values = start.bounds(op_.box());
    bool inside = Range{0, shape[axis]}.contains(values);
    load.at.push_back({over_variables(start), {}, from_data || (access.fill && !inside)});
    if (!from_data && !inside) load.anywhere = false;
    if (from_data && !access.fill) load.anywhere = false;
  }
  if (access.fill) load.anywhere = true;
  return load;
}

CellId Lowering::cell(CellId id) {
  if (cells_[id.index()]) return *cells_[id.index()];
  CellNode node = op_.exprs[id];
  if (node.op == CellOp::read && is_given(op_.reads[node.attribute])) return *given_[op_.reads[node.attribute].tensor];
  for (CellId& arg : node.args) arg = cell(arg);
  if (node.op == CellOp::index) node.attribute = frame_.at[node.attribute];
  if (node.op == CellOp::read) node.attribute = loads_[node.attribute];
  return *(cells_[id.index()] = kernel_.exprs.add(std::move(node)));
}

CellId Lowering::monoid_cell(const Monoid& monoid, CellId id, const std::vector<CellId>& arguments) {
  std::vector<std::optional<CellId>> known(monoid.exprs.size());
  auto visit = [&](auto& self, CellId at) -> CellId {
    if (known[at.index()]) return *known[at.index()];
    CellNode node = monoid.exprs[at];
    if (node.op == CellOp::argument) return arguments[node.attribute];
    for (CellId& arg : node.args) arg = self(self, arg);
    return *(known[at.index()] = kernel_.exprs.add(std::move(node)));
  };
  return visit(visit, id);
}

std::vector<CellId> Lowering::identity(const Monoid& monoid) {
  std::vector<CellId> result;
  for (CellId id : monoid.identity) result.push_back(monoid_cell(monoid, id, {}));
  return result;
}

std::vector<CellId> Lowering::beginning(const Monoid& monoid) {
  return accumulates_into_result_ ? result_cells(monoid, true) : identity(monoid);
}

std::vector<CellId> Lowering::combination(const Monoid& monoid, const std::vector<CellId>& a,
                                          const std::vector<CellId>& b) {
  std::vector<CellId> arguments = a;
  arguments.insert(arguments.end(), b.begin(), b.end());
  std::vector<CellId> result;
  for (CellId id : monoid.combine) result.push_back(monoid_cell(monoid, id, arguments));
  return result;
}

std::vector<std::size_t> Lowering::dims_with(bool reduction) const {
  std::vector<std::size_t> result;
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    if ((op_.dims[d].role == DimRole::reduction) == reduction) result.push_back(d);
  return result;
}

// Dims along which accesses are contiguous come innermost, so that a cache line is still cached when its next cell is
// read; otherwise in declared order.
std::vector<std::size_t> Lowering::near_last(std::vector<std::size_t> dims) const {
  std::vector<int> dense(op_.dims.size(), 0);
  for (const auto* list : {&op_.reads, &op_.writes})
    for (const Access& access : *list)
      if (const auto& rows = access.projection.start.rows; !rows.empty())
        for (std::size_t d : dims) dense[d] += std::abs(rows.back().coefficients[d]) == 1;
  std::stable_sort(dims.begin(), dims.end(), [&](std::size_t a, std::size_t b) { return dense[a] < dense[b]; });
  return dims;
}

// The end of a dim's range. A reduction over one point has no loop after LLVM's passes.
AffineExpr Lowering::end_of(std::size_t dim) const {
  const bool one = op_.dims[dim].role == DimRole::reduction && dim < extents_.sizes.size() && extents_.exact[dim] &&
                   extents_.sizes[dim] == 1;
  if (!one) return variable(frame_.hi[dim]);
  assume(dim, 0, 1);
  return plus(variable(frame_.lo[dim]), number(1));
}

// The loop over `dim` inside loops over the dims of `outside`: only constraints on these dims bound it.
For Lowering::loop(std::size_t dim, const std::vector<bool>& outside) const {
  For result;
  result.variable = frame_.at[dim];
  result.lower.push_back({variable(frame_.lo[dim]), 1});
  result.upper.push_back({end_of(dim), 1});
  for (const Constraint& constraint : op_.constraints) {
    const auto& coefficients = constraint.expr.coefficients;
    std::int64_t c = coefficients[dim];
    bool known = c != 0;
    for (std::size_t d = 0; d < op_.dims.size(); ++d) known = known && (d == dim || coefficients[d] == 0 || outside[d]);
    if (!known) continue;
    AffineExpr rest = over_variables(constraint.expr);
    rest.coefficients[frame_.at[dim]] = 0;
    // c*d + rest >= 0 is d >= -rest/c for c > 0, and d <= rest/-c for c < 0; an equality is both.
    AffineExpr scaled = c > 0 ? scale(rest, -1) : rest;
    std::int64_t divisor = std::abs(c);
    bool equality = constraint.comparison == Comparison::equal_zero;
    if (c > 0 || equality) result.lower.push_back({scaled, divisor});
    if (c < 0 || equality) result.upper.push_back({scaled + number(divisor), divisor});
  }
  return result;
}

std::vector<Statement> around(std::vector<For> loops, std::vector<Statement> inner) {
  for (std::size_t n = loops.size(); n-- > 0;) {
    loops[n].body = std::move(inner);
    inner.clear();
    inner.push_back({std::move(loops[n])});
  }
  return inner;
}

std::vector<Statement> Lowering::nest(const std::vector<std::size_t>& order, std::vector<bool> outside,
                                      std::vector<Statement> inner) const {
  std::vector<For> loops;
  for (std::size_t d : order) {
    loops.push_back(loop(d, outside));
    outside[d] = true;
  }
  return around(std::move(loops), std::move(inner));
}

// A nest outside all other loops.
std::vector<Statement> Lowering::full_nest(const std::vector<std::size_t>& order, std::vector<Statement> inner) const {
  return guarded(nest(order, std::vector<bool>(op_.dims.size(), false), std::move(inner)));
}

// Constraints without dims guard the whole body.
std::vector<Statement> Lowering::guarded(std::vector<Statement> body) const {
  Guard guard;
  for (const Constraint& c : op_.constraints)
    if (c.expr.is_constant()) guard.conditions.push_back({over_variables(c.expr), c.comparison});
  if (guard.conditions.empty()) return body;
  guard.body = std::move(body);
  return {{std::move(guard)}};
}

Store Lowering::store(const std::vector<CellId>& values) const {
  Store result;
  for (std::size_t w = 0; w < op_.writes.size(); ++w) {
    Store::Target target;
    target.tensor = frame_.results[op_.writes[w].tensor];
    for (const AffineExpr& row : op_.writes[w].projection.start.rows) target.at.push_back(over_variables(row));
    target.value = values[w];
    result.targets.push_back(std::move(target));
  }
  return result;
}

std::vector<CellId> Lowering::result_values() {
  std::vector<CellId> values;
  for (CellId id : op_.map()->values) values.push_back(cell(id));
  return values;
}

std::vector<Statement> Lowering::map_body() { return full_nest(dims_with(false), {{store(result_values())}}); }

Lowering::State Lowering::new_state(const Monoid& monoid, std::uint32_t count, std::uint32_t lanes) {
  State state;
  for (const auto& component : monoid.components) {
    state.slots.push_back(static_cast<std::uint32_t>(kernel_.slots.size()));
    state.values.push_back(kernel_.exprs.argument(state.slots.back(), component.type));
    kernel_.slots.push_back({static_cast<std::uint32_t>(kernel_.accumulators.size()), {}});
    kernel_.accumulators.push_back({component.type, count, lanes});
  }
  return state;
}

Lowering::State Lowering::at(const Monoid& monoid, const State& state, const AffineExpr& number) {
  State result;
  for (std::size_t c = 0; c < state.slots.size(); ++c) {
    result.slots.push_back(static_cast<std::uint32_t>(kernel_.slots.size()));
    result.values.push_back(kernel_.exprs.argument(result.slots.back(), monoid.components[c].type));
    kernel_.slots.push_back({kernel_.slots[state.slots[c]].accumulator, number});
  }
  return result;
}

Assign assign(std::vector<std::uint32_t> slots, std::vector<CellId> values) {
  return {std::move(slots), std::move(values)};
}

Statement Lowering::accumulate(const Monoid& monoid, const State& state, bool descending) {
  auto earlier = state.values;
  std::vector<CellId> later;
  for (CellId id : op_.reduce()->operands) later.push_back(cell(id));
  if (descending) std::swap(earlier, later);
  return {assign(state.slots, combination(monoid, earlier, later))};
}

std::vector<Statement> Lowering::reduction_body() {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  std::vector<bool> outside(op_.dims.size(), false);
  for (std::size_t d : dims_with(false)) outside[d] = true;
  State state = new_state(monoid, 1, 1);
  std::vector<Statement> inner{{assign(state.slots, beginning(monoid))}};
  for (auto& s : nest(dims_with(true), outside, {accumulate(monoid, state)})) inner.push_back(std::move(s));
  inner.push_back({completed(state.values)});
  return full_nest(dims_with(false), std::move(inner));
}

bool Lowering::are_speculatable(const std::vector<CellId>& roots) const {
  CellPlacement placement(kernel_, roots);
  return std::all_of(roots.begin(), roots.end(), [&](CellId id) { return placement.harmless(id); });
}

std::vector<Statement> Lowering::run(const Extents& extents, bool exact_arithmetic, bool accumulates_into_result) {
  TAP_CHECK(op_.map() || op_.reduce(), "only maps and reductions become loops");
  extents_ = extents;
  accumulates_into_result_ = accumulates_into_result;
  declare_loads();
  if (op_.reduce()) {
    // From the right, each cell adds to the combination after it; not to the stored value, if that is rounded.
    auto scan = native_scan(op_);
    bool as_written = exact_arithmetic && rounds(program_[op_.reduce()->monoid]);
    if (scan && (scan->at_the_right || !as_written)) return scan_body(*scan);
    if (auto scatter = native_scatter(program_, op_)) return scatter_body(*scatter);
  }
  std::vector<CellId> roots;
  for (CellId id : op_.map() ? op_.map()->values : op_.reduce()->operands) roots.push_back(cell(id));
  if (are_speculatable(roots))
    if (auto tile = choose_tile(program_, op_, extents, !exact_arithmetic, machine_, preparable())) {
      *tile = with_row_of_prepared(op_, *tile, extents, machine_, preparable());
      set_grain(*tile);
      if (op_.reduce() && !tile->along_reduction && !(tile->rows && is_constrained(op_, *tile->rows)))
        if (auto packing = choose_packing(op_, *tile, extents, can_keep(), machine_, preparable()))
          return packed(*tile, *packing, extents);
      if (op_.reduce() && can_keep())
        if (const auto blocks = choose_step_blocks(op_, *tile, extents, machine_))
          return in_step_blocks(*tile, *blocks);
      return tiles(*tile, extents);
    }
  return op_.map() ? map_body() : reduction_body();
}

void assume(std::vector<BoxStep>* steps, const std::vector<std::uint32_t>& dims, std::int64_t rest_of,
            std::int64_t step) {
  if (!steps) return;
  for (std::uint32_t d : dims) {
    BoxStep& known = (*steps)[d];
    known.rest_of = std::lcm(known.rest_of, rest_of);  // 0 with any number gives 0
    known.step = std::max(known.step, step);
  }
}

void Lowering::assume(std::size_t dim, std::int64_t rest_of, std::int64_t step) const {
  if (dim < extents_.follows.size()) backend::assume(steps_, extents_.follows[dim], rest_of, step);
}

// Threads split the box into whole tiles.
void Lowering::set_grain(const RegisterTile& tile) {
  if (!calls_) return;
  const std::uint32_t at = *calls_;
  if (at == frame_.at[tile.dim]) kernel_.grain = tile.lanes * tile.vectors;
  if (tile.rows && at == frame_.at[*tile.rows]) kernel_.grain = tile.row_count;
  kernel_.worth = (kernel_.worth + kernel_.grain - 1) / kernel_.grain;
}

}  // namespace tap::backend
