// Register tiles (register_tile.h) as loops: rows are unrolled, lanes are vectors, and a dim that does not divide
// gets a tail: smaller tiles for rows, masks for lanes.
//
//   for j0 in lo.j..lo.j+32*q step 32
//     for i0 in lo.i..lo.i+14*p step 14
//       unroll i in i0 of 14 { unroll v in 0 of 2 { lanes j in j0 + 16*v.. of 16 { acc[2*i + v] = 0 } } }
//       for k …
//         … { acc[2*i + v] = acc[2*i + v] + a[i, k] * b[k, j] }
//       … { y[i, j] = acc[2*i + v] }
#include <algorithm>
#include <utility>

#include "backend/lower/lowering.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

// The range in steps: as many whole steps as fit, then a tail. Rows: a tail of known size is one step, otherwise steps
// of 8, 4, 2, 1. Lanes: a tail of known size is one step of as many vectors as it takes, otherwise vector by vector.
std::vector<Lowering::Part> Lowering::parts(const Extents& extents, std::size_t dim, std::uint32_t count,
                                            std::uint32_t each) {
  const std::uint32_t step = count * each;
  const std::int64_t size = extents.sizes[dim];
  const bool exact = extents.exact[dim];
  AffineExpr from = variable(frame_.lo[dim]), end = variable(frame_.hi[dim]);
  std::vector<Part> result;
  std::vector<Statement> before;
  auto define = [&](const char* name, AffineExpr e, std::int64_t divisor) {
    std::uint32_t v = new_variable(name + op_.dims[dim].name);
    if (divisor > 1) {
      before.push_back({Define{v, {bound(std::move(e), divisor)}, false}});
    } else {
      before.push_back({Define{v, {bound(std::move(e)), bound(number(0))}, true}});
    }
    return v;
  };
  auto add = [&](AffineExpr upper, std::uint32_t part_count, bool whole) {
    Part part;
    part.before = std::move(before);
    before.clear();
    part.count = part_count;
    part.whole = whole;
    part.loop.variable = new_variable(op_.dims[dim].name + "0");
    part.loop.lower = {bound(from)};
    part.loop.upper = {bound(std::move(upper))};
    part.loop.step = part_count * each;
    result.push_back(std::move(part));
  };
  // A tail is unrolled, and lanes without a tail have no mask.
  assume(dim, exact ? step : 1, step);
  if (exact && size % step == 0) {
    add(end, count, true);
    return result;
  }
  std::uint32_t left = define("n.", plus(end, from, -1), 1);
  auto steps_of = [&](std::uint32_t part_count) {
    std::int64_t length = part_count * each;
    std::uint32_t steps = define("q.", variable(left), length);
    AffineExpr upper = plus(from, variable(steps), length);
    AffineExpr rest = plus(variable(left), variable(steps), -length);
    add(upper, part_count, true);
    from = upper;
    left = define("n.", rest, 1);
  };
  if (!exact || size >= step) steps_of(count);
  if (each > 1) {
    add(end, exact ? static_cast<std::uint32_t>((size % step + each - 1) / each) : 1, exact && size % each == 0);
    if (exact) result.back().cells = size % step;
    return result;
  }
  if (exact) {
    add(end, static_cast<std::uint32_t>(size % step), true);
    return result;
  }
  for (std::uint32_t rows : {8u, 4u, 2u})
    if (rows < count) steps_of(rows);
  add(end, 1, true);
  return result;
}

// Stores a tile. If its rows are contiguous in memory and its lanes are not, stores one vector for all rows at a time,
// so that they can be transposed (emit_transposed.h).
std::vector<Statement> Lowering::store_across(const RegisterTile& tile, const Part* rows, const Part& lanes,
                                              Store stored) const {
  bool turned = rows && tile.vectors > 1;
  for (const Store::Target& target : stored.targets)
    turned = turned && !target.at.empty() && target.at.back().coefficients[frame_.at[*tile.rows]] == 1 &&
             target.at.back().coefficients[frame_.at[tile.dim]] == 0;
  auto inner = across(tile, rows, &lanes, {{std::move(stored)}});
  if (!turned) return inner;
  For& over_rows = std::get<For>(inner[0].node);
  For vectors = std::get<For>(std::exchange(over_rows.body, {})[0].node);
  over_rows.body = std::exchange(vectors.body, {});
  vectors.body = std::move(inner);
  return {{std::move(vectors)}};
}

// The statements for every row and vector of a tile.
std::vector<Statement> Lowering::across(const RegisterTile& tile, const Part* rows, const Part* lanes,
                                        std::vector<Statement> inner) const {
  if (lanes) {
    For vector;
    vector.kind = LoopKind::lanes;
    vector.variable = frame_.at[tile.dim];
    vector.count = tile.lanes;
    AffineExpr first = variable(lanes->loop.variable);
    vector.lower = {bound(tile.vectors > 1 ? plus(first, variable(vector_variable_), tile.lanes) : first)};
    if (!lanes->whole && lanes->cells > 0) vector.upper = {bound(plus(first, number(lanes->cells)))};
    else if (!lanes->whole) vector.upper = lanes->loop.upper;
    vector.body = std::move(inner);
    inner = {{std::move(vector)}};
  }
  if (tile.vectors > 1) {
    For vectors;
    vectors.kind = LoopKind::unrolled;
    vectors.variable = vector_variable_;
    vectors.count = lanes ? lanes->count : tile.vectors;
    vectors.lower = {bound(number(0))};
    vectors.body = std::move(inner);
    inner = {{std::move(vectors)}};
  }
  return over_rows(tile, rows, std::move(inner));
}

std::vector<Statement> Lowering::over_rows(const RegisterTile& tile, const Part* rows,
                                           std::vector<Statement> inner) const {
  if (!rows) return inner;
  For all;
  all.kind = LoopKind::unrolled;
  all.variable = frame_.at[*tile.rows];
  all.count = rows->count;
  all.lower = {bound(variable(rows->loop.variable))};
  all.body = std::move(inner);
  return {{std::move(all)}};
}

namespace {

constexpr std::int64_t most_steps = 128;  // unrolled, of all rows and vectors

// Whether a window that moves along the rows reads whole vectors again: x[i + u, j + w] at rows i and lanes j, along u.
bool meets_rows(const Operator& op, std::size_t dim, const RegisterTile& tile) {
  return tile.rows && std::ranges::any_of(op.reads, [&](const Access& read) {
           const auto& rows = read.projection.start.rows;
           return std::ranges::any_of(rows, [&](const AffineExpr& e) { return e.coefficients[tile.dim] != 0; }) &&
                  std::ranges::any_of(rows, [&](const AffineExpr& e) {
                    return e.coefficients[dim] != 0 && e.coefficients[dim] == e.coefficients[*tile.rows];
                  });
         });
}

}  // namespace

std::vector<Statement> Lowering::reduce_across(const RegisterTile& tile, const Part* rows, const Part& lanes) {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  State state = at(monoid, tile_state_, tile_number(tile));
  std::vector<bool> outside(op_.dims.size(), false);
  for (std::size_t d : dims_with(false)) outside[d] = true;
  auto result = across(tile, rows, &lanes, {{assign(state.slots, beginning(monoid))}});
  if (const auto ragged = rows ? ragged_along(op_, *tile.rows) : std::nullopt) {
    append(result, reduce_ragged(tile, *rows, lanes, *ragged, accumulate(monoid, state)));
    append(result, store_across(tile, rows, lanes, completed(state.values)));
    return result;
  }
  std::vector<std::size_t> order = dims_with(true);
  std::vector<Statement> steps = across(tile, rows, &lanes, {accumulate(monoid, state)});
  std::int64_t all = tile.row_count * tile.vectors;
  for (bool first = true; !order.empty() && is_short(order.back(), tile); first = false) {
    all *= extents_.sizes[order.back()];
    if (!first && (all > most_steps || !meets_rows(op_, order.back(), tile))) break;
    steps = {{unrolled(order.back(), std::move(steps))}};
    order.pop_back();
  }
  if (!order.empty()) {
    auto ahead = prefetch_ahead(tile, rows, lanes, order.back());
    append(ahead, std::move(steps));
    steps = std::move(ahead);
  }
  append(result, nest(order, outside, std::move(steps)));
  append(result, store_across(tile, rows, lanes, completed(state.values)));
  return result;
}

// A dim with few enough points to unroll completely, such as a window's along one row. Its bounds are then known, and
// values that depend on the window's position are computed once for all rows.
bool Lowering::is_short(std::size_t dim, const RegisterTile& tile) const {
  constexpr std::int64_t most_points = 7;
  return extents_.exact[dim] && extents_.sizes[dim] <= most_points && !is_constrained(op_, dim) &&
         extents_.sizes[dim] * tile.row_count * tile.vectors <= most_steps;
}

For Lowering::unrolled(std::size_t dim, std::vector<Statement> body) const {
  For all;
  all.kind = LoopKind::unrolled;
  all.variable = frame_.at[dim];
  all.count = static_cast<std::uint32_t>(extents_.sizes[dim]);
  assume(dim, 0, all.count);
  all.lower = {bound(variable(frame_.lo[dim]))};
  all.body = std::move(body);
  return all;
}

// Lanes are partials: each combines one of every so many points along the dim. At the end, first the vectors are
// combined, then the lanes.
std::vector<Statement> Lowering::reduce_along(const RegisterTile& tile, const Part* rows) {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  State state = at(monoid, tile_state_, tile_number(tile));
  AffineExpr row = tile.rows ? scale(variable(frame_.at[*tile.rows]), tile.vectors) : number(0);
  State first = at(monoid, tile_state_, row);
  auto result = across(tile, rows, nullptr, {{assign(state.slots, identity(monoid))}});

  std::vector<std::size_t> order = dims_with(true);
  order.erase(std::find(order.begin(), order.end(), tile.dim));
  std::vector<bool> outside(op_.dims.size(), true);
  outside[tile.dim] = false;
  For whole = loop(tile.dim, outside);
  std::uint32_t lo = new_variable("lo." + op_.dims[tile.dim].name), n = new_variable("n." + op_.dims[tile.dim].name);
  std::uint32_t hi = new_variable("hi." + op_.dims[tile.dim].name), q = new_variable("q." + op_.dims[tile.dim].name);
  const std::int64_t step = tile.lanes * tile.vectors;
  assume(tile.dim, 1, step);
  std::vector<Statement> inner;
  inner.push_back({Define{lo, whole.lower, true}});
  inner.push_back({Define{hi, whole.upper, false}});
  inner.push_back({Define{n, {bound(plus(variable(hi), variable(lo), -1)), bound(number(0))}, true}});
  inner.push_back({Define{q, {bound(variable(n), step)}, false}});
  AffineExpr middle = plus(variable(lo), variable(q), step);
  for (bool rest : {false, true}) {
    Part part;
    part.loop.variable = new_variable(op_.dims[tile.dim].name + "0");
    part.loop.lower = {bound(rest ? middle : variable(lo))};
    part.loop.upper = {bound(rest ? variable(hi) : middle)};
    part.loop.step = rest ? tile.lanes : step;
    part.count = rest ? 1 : tile.vectors;
    part.whole = !rest;
    For steps = part.loop;
    steps.body = across(tile, rows, &part, {accumulate(monoid, state)});
    inner.push_back({std::move(steps)});
  }
  std::vector<bool> parallel(op_.dims.size(), false);
  for (std::size_t d : dims_with(false)) parallel[d] = true;
  append(result, nest(order, parallel, std::move(inner)));

  std::vector<Statement> finish;
  for (std::uint32_t v = 1; v < tile.vectors; ++v) {
    State other = at(monoid, tile_state_, plus(row, number(v)));
    finish.push_back({assign(first.slots, combination(monoid, first.values, other.values))});
  }
  State one = new_state(monoid, 1, 1), other = new_state(monoid, 1, 1), all = new_state(monoid, 1, 1);
  finish.push_back(
      {FoldLanes{first.slots, all.slots, one.slots, other.slots, combination(monoid, one.values, other.values)}});
  if (accumulates_into_result_)
    finish.push_back({assign(all.slots, combination(monoid, result_cells(monoid, true), all.values))});
  if (rows && ends_with_rows_in_lanes(tile, *rows)) {
    append(result, end_rows_in_lanes(tile, *rows, std::move(finish), all.values));
  } else {
    finish.push_back({completed(all.values)});
    append(result, over_rows(tile, rows, std::move(finish)));
  }
  return result;
}

// The accumulator's index: row by row, with adjacent vectors.
AffineExpr Lowering::tile_number(const RegisterTile& tile) const {
  AffineExpr at = tile.vectors > 1 ? variable(vector_variable_) : number(0);
  if (tile.rows) at = plus(at, variable(frame_.at[*tile.rows]), tile.vectors);
  return at;
}

std::vector<Statement> Lowering::one_tile(const RegisterTile& tile, const Part* rows, const Part* lanes) {
  if (op_.map()) {
    auto result = prefetch_tiles(tile, rows, *lanes);
    append(result, store_across(tile, rows, *lanes, store(result_values())));
    return result;
  }
  return lanes ? reduce_across(tile, rows, *lanes) : reduce_along(tile, rows);
}

std::vector<Statement> Lowering::over_parts(std::vector<Part> parts,
                                            const std::function<std::vector<Statement>(const Part&)>& body) {
  std::vector<Statement> result;
  for (Part& part : parts) {
    For loop = part.loop;
    loop.body = body(part);
    append(result, std::move(part.before));
    result.push_back({std::move(loop)});
  }
  return result;
}

std::vector<Statement> Lowering::tiles(const RegisterTile& tile, const Extents& extents) {
  if (tile.vectors > 1) vector_variable_ = new_variable("v");
  if (op_.reduce()) tile_state_ = new_state(program_[op_.reduce()->monoid], tile.row_count * tile.vectors, tile.lanes);
  std::vector<std::size_t> outer;
  std::ptrdiff_t before_rows = 0;  // of these
  for (std::size_t d : near_last(dims_with(false))) {
    if (d == tile.rows) before_rows = std::ssize(outer);
    else if (d != tile.dim) outer.push_back(d);
  }

  if (op_.map() && !tile.rows) {
    if (const auto repeated = choose_repeated_rows(op_, tile, extents, machine_);
        repeated && !has_local_rows(*repeated))
      return in_repeated_rows(tile, *repeated);
    const auto together = outer.empty() ? std::nullopt : rows_together(tile, extents, outer.back());
    if (!together) return full_nest(outer, map_tiles(tile, extents, nullptr));
    const std::size_t rows = outer.back();
    outer.pop_back();
    return full_nest(outer, map_rows(tile, extents, rows, *together));
  }
  auto with_rows = [&](const Part* lanes) {
    if (!tile.rows) return one_tile(tile, nullptr, lanes);
    return over_parts(parts(extents, *tile.rows, tile.row_count, 1),
                      [&](const Part& part) { return tile_inside_or_not(tile, &part, lanes); });
  };
  auto with_lanes = [&](const std::function<std::vector<Statement>(const Part&)>& body) {
    return over_parts(parts(extents, tile.dim, tile.vectors, tile.lanes), body);
  };
  if (tile.along_reduction) {
    std::vector<Statement> result = lane_copies(tile, extents);
    append(result, full_nest(outer, with_rows(nullptr)));
    return result;
  }
  const std::vector<std::size_t> inside(outer.begin() + before_rows, outer.end());
  if (op_.reduce() && tile.rows && !inside.empty() && op_.constraints.empty() && rows_are_outside(op_, tile, inside)) {
    outer.resize(static_cast<std::size_t>(before_rows));
    return rows_in_order(outer, inside, tile, extents);
  }
  if (!rows_come_first(op_, tile, extents, machine_))
    return full_nest(outer, with_lanes([&](const Part& lanes) { return with_rows(&lanes); }));
  return full_nest(outer, rows_first(tile, extents, lanes_in_first_cache(op_, tile, extents, machine_)));
}

// With loops inside those over rows, as it is in memory.
std::vector<Statement> Lowering::rows_in_order(const std::vector<std::size_t>& before,
                                               const std::vector<std::size_t>& after, const RegisterTile& tile,
                                               const Extents& extents) {
  return full_nest(before, over_parts(parts(extents, *tile.rows, tile.row_count, 1), [&](const Part& rows) {
                     return full_nest(
                         after, over_parts(parts(extents, tile.dim, tile.vectors, tile.lanes),
                                           [&](const Part& lanes) { return tile_inside_or_not(tile, &rows, &lanes); }));
                   }));
}

// `block`: how many lanes are done for all rows before the next ones. 0: all.
std::vector<Statement> Lowering::rows_first(const RegisterTile& tile, Extents extents, std::int64_t block) {
  auto all_rows = [&] {
    return over_parts(parts(extents, *tile.rows, tile.row_count, 1), [&](const Part& rows) {
      return over_parts(parts(extents, tile.dim, tile.vectors, tile.lanes),
                        [&](const Part& lanes) { return tile_inside_or_not(tile, &rows, &lanes); });
    });
  };
  if (block == 0) return all_rows();
  Block lanes = block_of(tile.dim, block);
  extents.exact[tile.dim] = extents.exact[tile.dim] && extents.sizes[tile.dim] % block == 0;
  extents.sizes[tile.dim] = block;
  const std::uint32_t lo = std::exchange(frame_.lo[tile.dim], lanes.from);
  const std::uint32_t hi = std::exchange(frame_.hi[tile.dim], lanes.end);
  lanes.loop.body = std::move(lanes.before);
  append(lanes.loop.body, all_rows());
  frame_.lo[tile.dim] = lo;
  frame_.hi[tile.dim] = hi;
  return {{std::move(lanes.loop)}};
}

}  // namespace tap::backend
