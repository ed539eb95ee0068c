// Loops that pack operands (packing.h), in the order in which their source is contiguous.
#include <algorithm>
#include <bit>

#include "backend/lower/lowering.h"

namespace tap::backend {

using namespace ir;

namespace {

std::ptrdiff_t axes_of(const Access& access, std::size_t dim) {
  return std::ranges::count_if(access.projection.start.rows,
                               [&](const AffineExpr& row) { return row.coefficients[dim] != 0; });
}

// How many rows are packed together: as many as `most`, and of the remaining ones half as many, and so on down to four.
std::vector<std::uint32_t> groups_of_rows(std::uint32_t most, std::optional<std::int64_t> remaining) {
  constexpr std::uint32_t fewest = 4;
  std::vector<std::uint32_t> groups{most};
  std::int64_t rest = remaining.value_or(most - 1);
  for (std::uint32_t rows = std::bit_floor(most - 1); rows >= fewest && rest >= fewest; rows /= 2) {
    if (rest < rows) continue;
    groups.push_back(rows);
    if (remaining) rest %= rows;
  }
  return groups;
}

// Of vectors for what is left of a row of so many cells; vectors of fewer lanes are not stored transposed.
std::uint32_t lanes_of_rest(std::int64_t size, std::uint32_t lanes) {
  constexpr std::uint32_t fewest = 4;
  const auto rest = static_cast<std::uint32_t>(size % lanes);
  return std::clamp(std::bit_ceil(rest), std::min(fewest, lanes), lanes);
}

}  // namespace

// Packs one panel after another. Lanes run along the operand's contiguous dim: within the panel, or across it.
std::vector<Statement> Lowering::fill(const Pack& pack, const PackedDim& along, const std::optional<Block>& chunk,
                                      const Packing& packing, const RegisterTile& tile, const Extents& extents) {
  const Access& access = op_.reads[pack.read];
  Store store;
  CellId value = kernel_.exprs.read(loads_[pack.read], op_.operands[access.tensor].element);
  store.targets.push_back({pack.tensor, pack.at, value});
  std::vector<Statement> cell{{std::move(store)}};
  For within;
  within.variable = frame_.at[along.dim];
  within.lower = {bound(variable(along.panels->first))};
  within.upper = {bound(plus(variable(along.panels->first), number(along.step))), bound(variable(along.block->end))};
  const bool vectors = are_speculatable({value});
  const AffineExpr& last = access.projection.start.rows.back();
  std::vector<For> nest;
  const std::vector<bool> alone(op_.dims.size(), false);  // no constraint relates it to another dim (packing.cpp)
  std::optional<For> across;
  std::size_t across_dim = 0;
  for (std::size_t d : pack.inner) {
    For loop = reduction_loop(d, alone, chunk, packing);
    if (vectors && last.coefficients[d] == 1 && axes_of(access, d) == 1) across = std::move(loop), across_dim = d;
    else nest.push_back(std::move(loop));
  }
  std::vector<Statement> inner;
  if (vectors && last.coefficients[along.dim] == 1) {
    if (across) nest.push_back(std::move(*across));
    return fill_by_rows(std::move(nest), within, *along.panels,
                        extents.exact[along.dim] ? extents.sizes[along.dim] % along.step : 1, tile.lanes, cell);
  }
  if (across) {
    const auto together = static_cast<std::uint32_t>(std::min<std::int64_t>(along.step, tile.lanes));
    std::optional<std::int64_t> remaining;
    if (extents.exact[along.dim]) remaining = extents.sizes[along.dim] % along.step % together;
    std::optional<Prefetch> ahead;
    const auto next = dim_of_next_fill(tile, packing, extents);
    if (next && along.dim == tile.dim) ahead = fetch_of_next_fill(pack, across_dim, *next, extents);
    const std::int64_t length = packing.chunked == across_dim ? packing.chunk : 0;
    const bool in_vectors = op_.dims[across_dim].role == DimRole::reduction && extents.exact[across_dim] &&
                            extents.sizes[across_dim] % tile.lanes == 0 && length % tile.lanes == 0;
    inner = around(std::move(nest),
                   fill_across(within, together, remaining, {*across, in_vectors}, tile.lanes, cell, ahead));
  } else {
    nest.insert(nest.begin(), within);
    inner = around(std::move(nest), std::move(cell));
  }
  return {{over(*along.panels, number(0), variable(along.panels->all), std::move(inner))}};
}

// A few rows at a time, across all panels: rows are contiguous, and often a page or more apart.
std::vector<Statement> Lowering::fill_by_rows(std::vector<For> nest, const For& within, const Panels& panels,
                                              std::int64_t rest, std::uint32_t lanes,
                                              const std::vector<Statement>& cell) {
  constexpr std::int64_t rows_at_once = 8;
  std::vector<For> few_rows;
  if (!nest.empty()) {
    For rows = nest.back();
    nest.back().variable = new_variable(kernel_.variables[rows.variable] + "b");
    nest.back().step = rows_at_once;
    rows.lower = {bound(variable(nest.back().variable))};
    rows.upper.push_back(bound(plus(variable(nest.back().variable), number(rows_at_once))));
    few_rows.push_back(std::move(rows));
  }
  std::vector<Statement> copies;
  auto copy_panels = [&](AffineExpr from, AffineExpr to, bool whole) {
    std::vector<For> loops = few_rows;
    loops.push_back(within);
    if (whole) loops.back().upper.pop_back();
    in_lanes(loops, lanes);
    copies.push_back({over(panels, std::move(from), std::move(to), around(std::move(loops), cell))});
  };
  copy_panels(number(0), variable(panels.whole), true);
  if (rest != 0) copy_panels(variable(panels.whole), variable(panels.all), false);
  return around(std::move(nest), std::move(copies));
}

// Packs as many of the panel's rows at a time as a vector has lanes, or all if there are fewer, and stores them
// transposed (emit_transposed.h), the last lanes too; then smaller groups, and the remaining rows one by one. `remaining`:
// how many rows remain after the largest groups, if that is known.
std::vector<Statement> Lowering::fill_across(const For& within, std::uint32_t together,
                                             std::optional<std::int64_t> remaining, const Across& across,
                                             std::uint32_t lanes, const std::vector<Statement>& cell,
                                             const std::optional<Prefetch>& ahead) {
  struct Steps {
    For whole, rest;  // over the first of each group, and the remaining ones
  };
  std::vector<Statement> result;
  auto steps_of = [&](const For& all, std::uint32_t lanes) {
    const std::string name = kernel_.variables[all.variable];
    AffineExpr first = variable(define(result, name + "b", all.lower, true));
    std::uint32_t end = define(result, name + "e", all.upper, false);
    std::uint32_t whole = define(result, "q." + name, {bound(plus(variable(end), first, -1), lanes)}, false);
    AffineExpr middle = plus(first, variable(whole), lanes);
    Steps steps{all, all};
    steps.whole.variable = new_variable(name + "0");
    steps.whole.lower = {bound(first)};
    steps.whole.upper = {bound(middle)};
    steps.whole.step = lanes;
    steps.rest.lower = {bound(middle)};
    steps.rest.upper = {bound(variable(end))};
    return steps;
  };
  Steps along = steps_of(across.loop, lanes);
  For vector = across.loop;
  vector.kind = LoopKind::lanes;
  vector.lower = {bound(variable(along.whole.variable))};
  vector.count = lanes;
  vector.upper.clear();
  const std::size_t dim =
      static_cast<std::size_t>(std::ranges::find(frame_.at, across.loop.variable) - frame_.at.begin());
  std::vector<For> last_vector{along.rest};
  in_lanes(last_vector, extents_.exact[dim] ? lanes_of_rest(extents_.sizes[dim], lanes) : lanes);
  For rest = within;
  for (std::uint32_t group : groups_of_rows(together, remaining)) {
    Steps rows = steps_of(rest, group);
    For each = within;
    each.kind = LoopKind::unrolled;
    each.lower = {bound(variable(rows.whole.variable))};
    each.upper.clear();
    each.count = group;
    // A group of rows, at one vector of each.
    auto at_vector = [&](const For& first, const For& lanes) {
      std::vector<Statement> body;
      if (ahead) {
        Prefetch fetch = *ahead;
        for (AffineExpr& e : fetch.at) e = with_value(std::move(e), across.loop.variable, variable(first.variable));
        body = around({each}, {{std::move(fetch)}});
      }
      append(body, around({each, lanes}, cell));
      return around({rows.whole, first}, std::move(body));
    };
    append(result, at_vector(along.whole, vector));
    if (!across.in_vectors) append(result, at_vector(last_vector[0], last_vector[1]));
    rest = std::move(rows.rest);
  }
  append(result, around({rest, along.whole, vector}, cell));
  // Of a part of the box, which no run has, one cell after another will do.
  append(result,
         across.in_vectors ? around({within, along.rest}, cell) : around({rest, last_vector[0], last_vector[1]}, cell));
  return result;
}

}  // namespace tap::backend
