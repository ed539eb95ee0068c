// Register tiles of which every read lies inside its tensor: their loads check nothing. All other tiles check each load.
//
//   y[i] = sum[a in 0..3] x[i + a - 1 else 0]
//
//   let inside = min(i0 + lo_a - 1, …)        the least distance of a coordinate from the edges of its axis
//   if inside >= 0        { … acc0 = acc0 + x[i + a - 1] … }
//   if -inside - 1 >= 0   { … acc0 = acc0 + x[i + a - 1? else 0.0] … }
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
  for (CellId id : reachable_from(op_.exprs, op_.map() ? op_.map()->values : op_.reduce()->operands)) {
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

std::vector<Bound> Lowering::distances_from_edges(const std::vector<std::uint32_t>& reads, const RegisterTile& tile,
                                                  const Part& rows, const Part& lanes) const {
  std::vector<Bound> distances;
  auto add = [&](AffineExpr distance) {
    Bound one = bound(std::move(distance));
    if (std::ranges::find(distances, one) == distances.end()) distances.push_back(std::move(one));
  };
  for (std::uint32_t read : reads) {
    const Access& access = op_.reads[read];
    for (std::size_t axis = 0; axis < access.projection.start.rows.size(); ++axis) {
      if (!kernel_.loads[loads_[read]].at[axis].checked) continue;
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

// The statements, in which these reads check nothing.
std::vector<Statement> Lowering::unchecked(const std::vector<std::uint32_t>& reads,
                                           const std::function<std::vector<Statement>()>& statements) {
  const auto loads = loads_;
  const auto cells = std::exchange(cells_, std::vector<std::optional<CellId>>(op_.exprs.size()));
  for (std::uint32_t read : reads) {
    Load load = kernel_.loads[loads_[read]];
    load.fill.reset();
    for (Coordinate& c : load.at) c.checked = false;
    loads_[read] = static_cast<std::uint32_t>(kernel_.loads.size());
    kernel_.loads.push_back(std::move(load));
  }
  std::vector<Statement> result = statements();
  loads_ = loads;
  cells_ = cells;
  return result;
}

std::vector<Statement> Lowering::tile_inside_or_not(const RegisterTile& tile, const Part* rows, const Part* lanes) {
  constexpr std::uint32_t worth = 2;  // vectors, for one look at the edges
  if (!op_.reduce() || !rows || !lanes || !lanes->whole || rows->count * lanes->count < worth)
    return one_tile(tile, rows, lanes);
  const std::vector<std::uint32_t> reads = checked_reads();
  if (reads.empty()) return one_tile(tile, rows, lanes);

  std::vector<Statement> result;
  const AffineExpr inside = variable(define(result, "inside", distances_from_edges(reads, tile, *rows, *lanes), false));
  std::vector<Statement> checked = one_tile(tile, rows, lanes);
  Guard all_inside{
      {{inside, Comparison::at_least_zero}}, {}, unchecked(reads, [&] { return one_tile(tile, rows, lanes); })};
  Guard others{{{plus(number(-1), inside, -1), Comparison::at_least_zero}}, {}, std::move(checked)};
  result.push_back({std::move(all_inside)});
  result.push_back({std::move(others)});
  return result;
}

}  // namespace tap::backend
