// Register tiles of which every read lies inside its tensor: their loads check nothing. Of the others, those whose rows lie
// inside check the lanes only, which takes one mask for all rows. The rest check each load.
//
//   y[i, j] = sum[a in 0..3, b in 0..3] x[i + a - 1, j + b - 1 else 0]
//
//   let rows = min(i0 + lo_a - 1, …)          the least distance of a row from the edges of its axis
//   let inside = min(rows, j0 + lo_b - 1, …)  likewise of all coordinates
//   if inside >= 0                   { … acc0 = acc0 + x[i + a - 1, j + b - 1] … }
//   if -inside - 1 >= 0, rows >= 0   { … acc0 = acc0 + x[i + a - 1, j + b - 1? else 0.0] … }
//   if -rows - 1 >= 0                { … acc0 = acc0 + x[i + a - 1?, j + b - 1? else 0.0] … }
#include <algorithm>
#include <utility>

#include "backend/lower/lowering.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

bool is_checked(const Load& load) {
  return std::ranges::any_of(load.at, [](const Coordinate& c) { return c.checked; });
}
bool is_affine(const Load& load) {
  return std::ranges::none_of(load.at, [](const Coordinate& c) { return c.data.has_value(); });
}

}  // namespace

// The reads that are checked, if it is their position alone that decides.
std::vector<std::uint32_t> Lowering::checked_reads() const {
  std::vector<std::uint32_t> checked;
  for (CellId id : reachable_from(op_.exprs, op_.reduce()->operands)) {
    if (op_.exprs[id].op != CellOp::read) continue;
    const std::uint32_t read = op_.exprs[id].attribute;
    if (is_given(op_.reads[read])) continue;
    const Load& load = kernel_.loads[loads_[read]];
    if (is_checked(load) && is_affine(load) && std::ranges::count(checked, read) == 0) checked.push_back(read);
  }
  return checked;
}

// The first and the last point of a dim in the tile, for all steps of the reduction.
std::pair<AffineExpr, AffineExpr> Lowering::points_in_tile(std::size_t dim, const RegisterTile& tile, const Part& rows,
                                                           const Part& lanes) const {
  auto from = [&](const Part& part, std::int64_t count) {
    const AffineExpr first = variable(part.loop.variable);
    return std::pair(first, plus(first, number(count - 1)));
  };
  if (dim == tile.dim) return from(lanes, std::int64_t{lanes.count} * tile.lanes);
  if (dim == *tile.rows) return from(rows, rows.count);
  if (op_.dims[dim].role != DimRole::reduction) return {variable(frame_.at[dim]), variable(frame_.at[dim])};
  return {variable(frame_.lo[dim]), plus(variable(frame_.hi[dim]), number(-1))};
}

bool Lowering::is_along_lanes(std::uint32_t read, std::size_t axis, const RegisterTile& tile) const {
  return op_.reads[read].projection.start.rows[axis].coefficients[tile.dim] != 0;
}

// `of_lanes`: of the axes along which the lanes run, or of the others.
std::vector<Bound> Lowering::distances_from_edges(const std::vector<std::uint32_t>& reads, const RegisterTile& tile,
                                                  const Part& rows, const Part& lanes, bool of_lanes) const {
  std::vector<Bound> distances;
  auto add = [&](AffineExpr distance) {
    Bound one = bound(std::move(distance));
    if (std::ranges::find(distances, one) == distances.end()) distances.push_back(std::move(one));
  };
  for (std::uint32_t read : reads) {
    const Access& access = op_.reads[read];
    for (std::size_t axis = 0; axis < access.projection.start.rows.size(); ++axis) {
      if (!kernel_.loads[loads_[read]].at[axis].checked || is_along_lanes(read, axis, tile) != of_lanes) continue;
      const AffineExpr& start = access.projection.start.rows[axis];
      AffineExpr least = number(start.offset), greatest = least;
      for (std::size_t d = 0; d < op_.dims.size(); ++d) {
        const std::int64_t c = start.coefficients[d];
        if (c == 0) continue;
        const auto [first, last] = points_in_tile(d, tile, rows, lanes);
        least = plus(least, c > 0 ? first : last, c);
        greatest = plus(greatest, c > 0 ? last : first, c);
      }
      add(least);
      add(plus(number(op_.operands[access.tensor].shape[axis] - 1), greatest, -1));
    }
  }
  return distances;
}

// The tile with loads that check fewer axes.
std::vector<Statement> Lowering::unchecked_tile(const std::vector<std::uint32_t>& reads, const RegisterTile& tile,
                                                const Part& rows, const Part& lanes, bool also_lanes) {
  const auto loads = loads_;
  const auto cells = std::exchange(cells_, std::vector<std::optional<CellId>>(op_.exprs.size()));
  for (std::uint32_t read : reads) {
    Load load = kernel_.loads[loads_[read]];
    for (std::size_t axis = 0; axis < load.at.size(); ++axis)
      if (also_lanes || !is_along_lanes(read, axis, tile)) load.at[axis].checked = false;
    if (!is_checked(load)) load.fill.reset();
    loads_[read] = static_cast<std::uint32_t>(kernel_.loads.size());
    kernel_.loads.push_back(std::move(load));
  }
  std::vector<Statement> statements = one_tile(tile, &rows, &lanes);
  loads_ = loads;
  cells_ = cells;
  return statements;
}

std::vector<Statement> Lowering::tile_inside_or_not(const RegisterTile& tile, const Part* rows, const Part* lanes) {
  constexpr std::uint32_t worth = 4;  // vectors, for one look at the edges
  if (!op_.reduce() || !rows || !lanes || rows->count * lanes->count < worth) return one_tile(tile, rows, lanes);
  const std::vector<std::uint32_t> reads = checked_reads();
  std::vector<Bound> of_rows = distances_from_edges(reads, tile, *rows, *lanes, false);
  std::vector<Bound> all = distances_from_edges(reads, tile, *rows, *lanes, true);
  const bool checks_lanes = !all.empty();
  if (of_rows.empty() && (all.empty() || !lanes->whole)) return one_tile(tile, rows, lanes);

  // The conditions under which the cases before did not apply.
  std::vector<Statement> result;
  std::vector<Constraint> otherwise;
  auto define_distance = [&](const char* name, std::vector<Bound> distances) {
    return variable(define(result, name, std::move(distances), false));
  };
  auto is_inside = [](const AffineExpr& distance) { return Constraint{distance, Comparison::at_least_zero}; };
  auto is_outside = [&](const AffineExpr& distance) {
    return Constraint{plus(number(-1), distance, -1), Comparison::at_least_zero};
  };
  std::vector<Statement> cases;
  std::optional<AffineExpr> rows_inside;
  if (!of_rows.empty()) rows_inside = define_distance("rows", of_rows);
  if (lanes->whole) {
    if (rows_inside) all.push_back(bound(*rows_inside));
    const AffineExpr inside = define_distance("inside", std::move(all));
    cases.push_back({Guard{{is_inside(inside)}, {}, unchecked_tile(reads, tile, *rows, *lanes, true)}});
    otherwise.assign(1, is_outside(inside));
  }
  const bool masks_lanes = checks_lanes || !lanes->whole;
  if (rows_inside && masks_lanes) {
    std::vector<Constraint> when = otherwise;
    when.push_back(is_inside(*rows_inside));
    cases.push_back({Guard{std::move(when), {}, unchecked_tile(reads, tile, *rows, *lanes, false)}});
    otherwise.assign(1, is_outside(*rows_inside));
  }
  cases.push_back({Guard{std::move(otherwise), {}, one_tile(tile, rows, lanes)}});
  append(result, std::move(cases));
  return result;
}

}  // namespace tap::backend
