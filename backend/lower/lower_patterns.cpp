// Loops of scans and scatters (ir/interpret/linear_reductions.h), in linear work.
#include <algorithm>

#include "backend/lower/lowering.h"
#include "backend/tiles/scan_tile.h"
#include "ir/affine_cell.h"
#include "ir/graph.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

AffineExpr Lowering::shifted(AffineExpr e, std::uint32_t v, std::int64_t by) const {
  e.offset = checked::add(e.offset, checked::mul(e.coefficients[v], by));
  return e;
}

// If a parallel dim is empty, there is no point at which reads were proved to be in bounds.
std::vector<Statement> Lowering::if_any_result(std::vector<Statement> body) const {
  Guard guard;
  for (std::size_t d : dims_with(false))
    guard.conditions.push_back(
        {plus(plus(variable(frame_.hi[d]), variable(frame_.lo[d]), -1), number(-1)), Comparison::at_least_zero});
  guard.body = std::move(body);
  return {{std::move(guard)}};
}

std::vector<Statement> Lowering::scan_body(const Scan& scan) {
  std::optional<RegisterTile> tile;
  if (are_speculatable(later_cells())) tile = choose_scan_tile(program_, op_, extents_, scan.along, machine_);
  std::vector<std::size_t> outer;
  for (std::size_t d : dims_with(false))
    if (d != scan.along && (!tile || d != tile->dim)) outer.push_back(d);
  if (!tile) return if_any_result(full_nest(outer, scan_of(scan, {}, nullptr)));
  set_grain(*tile);
  if (tile->vectors > 1) vector_variable_ = new_variable("v");
  std::vector<Statement> inner;
  const bool in_rows = tile->rows.has_value();
  std::vector<Part> all = parts(extents_, tile->dim, in_rows ? tile->row_count : tile->vectors, tile->lanes);
  if (can_resume(scan, *tile)) inner = row_by_row(scan, *tile, all);
  else
    for (Part& part : all) {
      For loop = part.loop;
      loop.body = scan_of(scan, tile, &part);
      append(inner, std::move(part.before));
      inner.push_back({std::move(loop)});
    }
  return if_any_result(full_nest(outer, std::move(inner)));
}

// Whether a step can begin with the results of the step before, and rows come faster from the second cache in one piece than in
// pieces of a register tile: 1.7 times for 64 rows of 1024 cells. From far memory they do not. Each row is read once more, which costs more
// where rows do not begin at lines.
bool Lowering::can_resume(const Scan& scan, const RegisterTile& tile) const {
  if (tile.rows || keeper_ || !endings_.empty() || accumulates_into_result_ || !can_keep()) return false;
  double bytes = 0;
  auto see = [&](const Access& access, const TensorType& type) {
    double all = static_cast<double>(size_of(type.element));
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (uses(access, d)) all *= static_cast<double>(extents_.sizes[d]);
    bytes += all;
  };
  for (const Access& read : op_.reads) see(read, op_.operands[read.tensor]);
  for (const Access& write : op_.writes) see(write, op_.results[write.tensor]);
  const std::int64_t of_row = extents_.sizes[tile.dim] * full_vector_bytes / tile.lanes;
  const bool is_near = bytes > static_cast<double>(machine_.l1_bytes) &&
                       bytes <= static_cast<double>(machine_.l2_bytes);
  const bool is_single = std::ranges::all_of(dims_with(true), [&](std::size_t d) { return d == scan.reduced; });
  return is_single && extents_.sizes[scan.along] > 2 && of_row % machine_.line_bytes == 0 && is_near &&
         of_row <= machine_.l1_bytes / 4 &&
         extents_.sizes[tile.dim] > static_cast<std::int64_t>(tile.vectors) * tile.lanes;
}

// All tiles of the first step, then all of each further one, which begins with the results before it.
std::vector<Statement> Lowering::row_by_row(const Scan& scan, const RegisterTile& tile, std::vector<Part>& all) {
  const bool descending = !scan.at_the_right;
  std::vector<Statement> result;
  For first = loop(scan.along, std::vector<bool>(op_.dims.size(), false));
  first.descending = descending;
  For others = first;
  const AffineExpr second = plus(variable(frame_.lo[scan.along]), number(1)),
                   last = plus(end_of(scan.along), number(-1));
  (descending ? first.lower : first.upper).push_back({descending ? last : second, 1});
  (descending ? others.upper : others.lower)[0] = {descending ? last : second, 1};  // in place of the box's
  for (Part& part : all) {
    append(result, std::move(part.before));
    const ScanLoops loops = scan_loops(scan, tile, &part, true);
    for (For* run : {&first, &others}) {
      For along = part.loop;
      along.body = run == &first ? loops.begin : loops.resume;
      append(along.body, loops.step);
      append(along.body, loops.finish);
      run->body.push_back({std::move(along)});
    }
  }
  result.push_back({std::move(first)});
  result.push_back({std::move(others)});
  return result;
}

// The accumulators run along with the parallel dim: at each step only what the bound newly admits is combined. A box that
// starts later first combines the terms before it. With a tile, all of its accumulators step together.
std::vector<Statement> Lowering::scan_of(const Scan& scan, const std::optional<RegisterTile>& tile, const Part* part) {
  ScanLoops loops = scan_loops(scan, tile, part);
  For run = loop(scan.along, std::vector<bool>(op_.dims.size(), false));
  run.descending = !scan.at_the_right;
  run.body = std::move(loops.step);
  append(run.body, std::move(loops.finish));
  std::vector<Statement> result = std::move(loops.begin);
  result.push_back({std::move(run)});
  return result;
}

Lowering::ScanLoops Lowering::scan_loops(const Scan& scan, const std::optional<RegisterTile>& tile, const Part* part,
                                         bool resumes) {
  const bool descending = !scan.at_the_right;
  const Monoid& monoid = program_[op_.reduce()->monoid];
  std::vector<std::size_t> inner_reductions;
  std::vector<bool> outside(op_.dims.size(), false);
  for (std::size_t d : dims_with(false)) outside[d] = true;
  for (std::size_t d : dims_with(true))
    if (d != scan.reduced) inner_reductions.push_back(d);
  outside[scan.reduced] = true;
  const State all = tile ? new_state(monoid, tile->row_count * tile->vectors, tile->lanes) : new_state(monoid, 1, 1);
  const State state = tile ? at(monoid, all, tile_number(*tile)) : all;
  const bool in_rows = tile && tile->rows;
  auto each = [&](std::vector<Statement> inner) {
    return tile ? across(*tile, in_rows ? part : nullptr, in_rows ? nullptr : part, std::move(inner)) : inner;
  };
  std::vector<Statement> reduce = nest(inner_reductions, outside, each({accumulate(monoid, state, descending)}));

  outside[scan.reduced] = false;
  For admitted = loop(scan.reduced, outside);
  admitted.descending = descending;
  admitted.body = reduce;
  auto& moving = descending ? admitted.lower : admitted.upper;
  const std::uint32_t i = frame_.at[scan.along];
  auto follows =
      std::find_if(moving.begin(), moving.end(), [&](const Bound& b) { return b.expr.coefficients[i] != 0; });
  TAP_CHECK(follows != moving.end(), "a scan's bound follows its dim");
  const AffineExpr bound = follows->expr;

  // Before the first step: the loop of the previous step, whose index is lo-1 (descending: hi).
  For before = admitted;
  AffineExpr first = shifted(bound, i, descending ? 0 : -1);
  std::uint32_t start = descending ? frame_.hi[scan.along] : frame_.lo[scan.along];
  std::swap(first.coefficients[i], first.coefficients[start]);
  (descending ? before.lower : before.upper)[static_cast<std::size_t>(follows - moving.begin())].expr = first;

  ScanLoops loops;
  if (auto one = single_step(admitted, *follows, i)) {
    loops.step.push_back(std::move(one->front()));  // defines the point
    if (tile && !in_rows && inner_reductions.empty()) append(loops.step, prefetch_scan(scan, descending, *tile, *part));
    loops.step.push_back(std::move(one->back()));
  } else {
    auto& opposite = descending ? admitted.upper : admitted.lower;
    opposite.push_back({shifted(bound, i, descending ? 1 : -1), 1});
    loops.step.push_back({std::move(admitted)});
  }
  loops.finish = each({{store(state.values)}});
  loops.begin = each({{assign(state.slots, identity(monoid))}});
  loops.begin.push_back({std::move(before)});
  if (!resumes) return loops;
  const std::size_t known = kernel_.loads.size();
  const std::vector<CellId> results = result_cells(monoid, true);
  for (std::size_t l = known; l < kernel_.loads.size(); ++l)
    for (Coordinate& c : kernel_.loads[l].at) c.affine = shifted(c.affine, i, descending ? 1 : -1);
  loops.resume = each({{assign(state.slots, results)}});
  return loops;
}

// A bound that moves by one admits one point at a time: no loop, if it is inside the other bounds.
std::optional<std::vector<Statement>> Lowering::single_step(const For& admitted, const Bound& moving,
                                                            std::uint32_t along) const {
  if (moving.divisor != 1 || moving.expr.coefficients[along] != 1) return {};
  const AffineExpr point = admitted.descending ? moving.expr : plus(moving.expr, number(-1));
  Guard inside;
  for (const auto* bounds : {&admitted.lower, &admitted.upper})
    for (const Bound& other : *bounds) {
      if (other.divisor != 1) return {};
      const bool lower = bounds == &admitted.lower;
      if (&other == &moving) continue;
      inside.conditions.push_back({lower ? plus(point, other.expr, -1) : plus(plus(other.expr, point, -1), number(-1)),
                                   Comparison::at_least_zero});
    }
  inside.body = admitted.body;
  return std::vector<Statement>{{Define{admitted.variable, {backend::bound(point)}, true}}, {std::move(inside)}};
}

std::vector<CellId> Lowering::later_cells() {
  std::vector<CellId> cells;
  for (CellId id : op_.reduce()->operands) cells.push_back(cell(id));
  return cells;
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

// The position of a reduction point along a target's dim, and the body if that is in the box.
std::vector<Statement> Lowering::at_target(const Scatter::Target& target, std::vector<Statement> body) {
  CellExprs& exprs = kernel_.exprs;
  AffineExpr rest = target.equals;  // selector == sign * dim + rest
  rest.coefficients[target.dim] = 0;
  CellId coordinate = exprs.cast(cell(target.selector), ElementType::i64);
  if (!rest.is_constant() || rest.offset != 0)
    coordinate = exprs.apply(CellOp::sub, ElementType::i64, {coordinate, affine_cell(exprs, over_variables(rest))});
  if (target.sign < 0) coordinate = exprs.apply(CellOp::neg, ElementType::i64, {coordinate});
  // It may be any number, so it is compared as data: the difference of an affine condition might overflow.
  CellId v = exprs.index(frame_.at[target.dim]);
  CellId from = exprs.index(frame_.lo[target.dim]), end = exprs.index(frame_.hi[target.dim]);
  CellId inside = exprs.apply(CellOp::logical_and, ElementType::boolean,
                              {exprs.apply(CellOp::less_equal, ElementType::boolean, {from, v}),
                               exprs.apply(CellOp::less, ElementType::boolean, {v, end})});
  return {{Let{frame_.at[target.dim], coordinate}}, {Guard{{}, inside, std::move(body)}}};
}

// Combines the contribution of one reduction point with the result.
std::vector<Statement> Lowering::scatter_point(const Scatter& scatter, const Monoid& monoid) {
  std::vector<CellId> later;
  for (CellId id : scatter.terms) later.push_back(cell(id));
  std::vector<Statement> inner{{store(combination(monoid, result_cells(monoid, false), later))}};
  auto only_if = [&](const std::vector<CellId>& conditions) {
    for (std::size_t c = conditions.size(); c-- > 0;) inner = {{Guard{{}, cell(conditions[c]), std::move(inner)}}};
  };
  only_if(scatter.later);
  for (std::size_t t = scatter.targets.size(); t-- > 0;) inner = at_target(scatter.targets[t], std::move(inner));
  only_if(scatter.conditions);
  return inner;
}

// Whether a dim of the result outside those that the reduction selects: a step along it leaves all the selected cells behind.
bool Lowering::is_before_targets(const Scatter& scatter, std::size_t dim) const {
  for (const auto& row : op_.writes[0].projection.start.rows) {
    if (row.coefficients[dim] != 0) return true;
    for (const Scatter::Target& t : scatter.targets)
      if (row.coefficients[t.dim] != 0) return false;
  }
  return false;
}

// All cells start as the identity; then one pass over the reduction combines each point into its target cell. Dims that
// the target depends on go outside the reduction, and those before it in the result; the others inside, where their cells
// are neighbours. Threads write whole cache lines: with cells of one line, each would wait for the line at every point.
std::vector<Statement> Lowering::scatter_body(const Scatter& scatter) {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  std::vector<Statement> all = full_nest(dims_with(false), {{store(identity(monoid))}});
  std::vector<std::size_t> order, inside;
  for (std::size_t d : dims_with(false)) {
    auto is_this = [&](const Scatter::Target& t) { return t.dim == d; };
    auto follows = [&](const Scatter::Target& t) {
      return depends_on(op_, {t.selector}, d) || t.equals.coefficients[d] != 0;
    };
    if (std::any_of(scatter.targets.begin(), scatter.targets.end(), is_this)) continue;
    const bool outside = is_before_targets(scatter, d) ||
                         std::any_of(scatter.targets.begin(), scatter.targets.end(), follows);
    (outside ? order : inside).push_back(d);
    if (op_.writes[0].projection.start.rows.empty() || op_.writes[0].projection.start.rows.back().coefficients[d] == 0)
      continue;
    const std::size_t line = machine_.line_bytes / size_of(op_.results[0].element);
    set_grain({.dim = d, .lanes = static_cast<std::uint32_t>(line)});
  }
  for (std::size_t d : dims_with(true)) order.push_back(d);
  order.insert(order.end(), inside.begin(), inside.end());
  for (auto& s : full_nest(order, scatter_point(scatter, monoid))) all.push_back(std::move(s));
  return if_any_result(std::move(all));
}

}  // namespace tap::backend
