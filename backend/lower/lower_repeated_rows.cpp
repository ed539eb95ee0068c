// Vectors of a map over several narrow rows at a time (repeated_rows.h).
#include <algorithm>
#include <utility>

#include "backend/lower/lowering.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

// The coordinates of a cell of such a tensor, where rows of this length are one row.
void join_rows(std::vector<AffineExpr>& at, const Shape& shape, std::int64_t length) {
  AffineExpr& row = at[axis_of_rows(shape)];
  at.back().offset += row.offset * length;
  for (std::size_t v = 0; v < row.coefficients.size(); ++v) at.back().coefficients[v] += row.coefficients[v] * length;
  row = AffineExpr::constant(row.coefficients.size(), 0);
}

}  // namespace

// Whether some rows are in the kernel's own memory, where they may have gaps, or stay in registers.
bool Lowering::has_local_rows(const RepeatedRows& repeated) const {
  auto local = [&](std::uint32_t tensor) { return tensor == no_tensor || kernel_.tensors[tensor].local.has_value(); };
  for (const Access& write : op_.writes)
    if (local(frame_.results[write.tensor])) return true;
  for (const Access& read : op_.reads)
    if (is_given(read) || (uses(read, repeated.dim) && local(frame_.operands[read.tensor]))) return true;
  return false;
}

// Of a tensor in rows: as one row.
void Lowering::join_rows_of(std::uint32_t tensor) {
  Shape& shape = kernel_.tensors[tensor].type.shape;
  shape.back() *= std::exchange(shape[axis_of_rows(shape)], 1);
}

// The copy of one operand for some rows: the same cells for each of them, or, of what is spread, the cell of each for the whole row.
std::vector<Statement> Lowering::repeat(std::uint32_t read, const RegisterTile& tile, const RepeatedRows& repeated) {
  const std::int64_t length = op_.dims[tile.dim].range.size();
  const ElementType type = op_.operands[op_.reads[read].tensor].element;
  TensorArgument copy;
  copy.name = "r" + std::to_string(kernel_.tensors.size());
  copy.type = {type, {repeated.count * length}};
  copy.local = Local{copy.type.shape, {number(0)}};
  const auto tensor = static_cast<std::uint32_t>(kernel_.tensors.size());
  kernel_.tensors.push_back(std::move(copy));

  For each;
  each.variable = new_variable("r." + op_.dims[repeated.dim].name);
  each.lower = {bound(number(0))};
  each.upper = {bound(number(repeated.count))};
  if (uses(op_.reads[read], repeated.dim)) {
    const std::uint32_t row = frame_.at[repeated.dim];
    each.upper.push_back(bound(plus(variable(frame_.hi[repeated.dim]), variable(row), -1)));
    Load of_each = kernel_.loads[loads_[read]];
    for (Coordinate& c : of_each.at) {
      c.affine.coefficients.resize(kernel_.variables.size());
      c.affine = plus(c.affine, variable(each.variable), c.affine.coefficients[row]);
    }
    loads_[read] = static_cast<std::uint32_t>(kernel_.loads.size());
    kernel_.loads.push_back(std::move(of_each));
  }
  Store cell;
  cell.targets.push_back({tensor,
                          {plus(variable(frame_.at[tile.dim]), variable(each.variable), length)},
                          kernel_.exprs.read(loads_[read], type)});
  each.body = over_parts(parts(extents_, tile.dim, 1, tile.lanes),
                         [&](const Part& lanes) { return across(tile, nullptr, &lanes, {{cell}}); });
  Load load;
  load.tensor = tensor;
  load.at.push_back({variable(frame_.at[tile.dim]), {}, false});
  loads_[read] = static_cast<std::uint32_t>(kernel_.loads.size());
  kernel_.loads.push_back(std::move(load));
  return {{std::move(each)}};
}

std::vector<Statement> Lowering::in_repeated_rows(const RegisterTile& tile, const RepeatedRows& repeated) {
  const std::int64_t length = op_.dims[tile.dim].range.size();
  std::vector<Statement> body;
  for (std::uint32_t read : repeated.reads) append(body, repeat(read, tile, repeated));
  std::vector<Statement> spread;
  for (std::uint32_t read : repeated.spread) append(spread, repeat(read, tile, repeated));
  cells_.assign(op_.exprs.size(), std::nullopt);
  std::vector<bool> joined(kernel_.tensors.size());
  auto join = [&](std::uint32_t tensor) {
    if (!joined[tensor]) join_rows_of(tensor);
    joined[tensor] = true;
  };
  for (std::uint32_t r = 0; r < op_.reads.size(); ++r) {
    if (!uses(op_.reads[r], repeated.dim) || std::ranges::find(repeated.spread, r) != repeated.spread.end()) continue;
    Load load = kernel_.loads[loads_[r]];
    join(load.tensor);
    std::vector<AffineExpr> at;
    for (const Coordinate& c : load.at) at.push_back(c.affine);
    for (AffineExpr& e : at) e.coefficients.resize(kernel_.variables.size());
    join_rows(at, op_.operands[op_.reads[r].tensor].shape, length);
    for (std::size_t axis = 0; axis < at.size(); ++axis) load.at[axis].affine = std::move(at[axis]);
    loads_[r] = static_cast<std::uint32_t>(kernel_.loads.size());
    kernel_.loads.push_back(std::move(load));
  }
  Store stored = store(result_values());
  for (std::size_t w = 0; w < stored.targets.size(); ++w) {
    Store::Target& target = stored.targets[w];
    join(target.tensor);
    for (AffineExpr& e : target.at) e.coefficients.resize(kernel_.variables.size());
    join_rows(target.at, op_.results[op_.writes[w].tensor].shape, length);
  }

  For rows;
  rows.variable = frame_.at[repeated.dim];
  rows.lower = {bound(variable(frame_.lo[repeated.dim]))};
  rows.upper = {bound(variable(frame_.hi[repeated.dim]))};
  rows.step = repeated.count;
  assume(repeated.dim, 1, 2 * repeated.count);
  assume(tile.dim, 0, length);
  const std::uint32_t count = define(
      rows.body, "rows.",
      {bound(plus(variable(frame_.hi[repeated.dim]), variable(rows.variable), -1)), bound(number(repeated.count))},
      false);
  append(rows.body, std::move(spread));
  const AffineExpr cells = scale(variable(count), length);
  const std::uint32_t vectors = define(rows.body, "v.", {bound(cells, tile.lanes)}, false);
  std::vector<Statement> all;
  for (const bool whole : {true, false}) {
    Part part;
    part.loop.variable = new_variable(op_.dims[tile.dim].name + "0");
    part.loop.lower = {bound(whole ? number(0) : scale(variable(vectors), tile.lanes))};
    part.loop.upper = {bound(whole ? scale(variable(vectors), tile.lanes) : cells)};
    part.loop.step = tile.lanes;
    part.whole = whole;
    For loop = part.loop;
    loop.body = across(tile, nullptr, &part, {{stored}});
    all.push_back({std::move(loop)});
  }
  std::vector<std::size_t> outer;
  for (std::size_t d : near_last(dims_with(false)))
    if (d != tile.dim && d != repeated.dim) outer.push_back(d);
  if (repeated.spread.empty()) {
    append(rows.body, std::move(all));
    body.push_back({std::move(rows)});
    return full_nest(outer, std::move(body));
  }
  append(rows.body, full_nest(outer, std::move(all)));
  body.push_back({std::move(rows)});
  return body;
}

}  // namespace tap::backend
