// Packs the bounding boxes of overlapping windows (packing.h), with the fill for cells outside the tensor.
//
//   y[o, j] = sum[c, v] x[c, j + v - 1 else 0] * k[o, c, v]      for 14 rows j0.. at a time and c in cc..ce
//
//   for w in 0..ce - cc
//     for w_1 in 0..16
//       p[w, w_1] = x[cc + w, j0 - 1 + w_1? else 0]              and from then on x[c, j + v - 1] is p[c - cc, j - j0 + v]
#include <algorithm>
#include <cmath>

#include "backend/lower/lowering.h"

namespace tap::backend {

using namespace ir;

namespace {

// Of whole vectors, however few lanes the tile has: two filters of 7 × 7 took more time to copy by two cells than to multiply. None
// that the longest row leaves empty.
std::uint32_t lanes_of_copy(ElementType element, std::int64_t longest_row) {
  auto lanes =
      static_cast<std::uint32_t>(full_vector_bytes / static_cast<std::int64_t>(size_of(compute_type(element))));
  while (lanes > 2 && lanes / 2 >= longest_row) lanes /= 2;
  return lanes;
}

}  // namespace

// The range of a dim inside the place where the box is copied; none if it does not change there.
std::optional<Lowering::Run> Lowering::run_inside(std::size_t dim, const PackedDim& rows,
                                                  const std::optional<Block>& chunk, const Packing& packing) const {
  if (dim == rows.dim) return Run{variable(rows.block->from), variable(rows.block->end), rows.block_size};
  if (op_.dims[dim].role != DimRole::reduction) return {};
  if (chunk && packing.chunked == dim) return Run{variable(chunk->from), variable(chunk->end), packing.chunk};
  return Run{variable(frame_.lo[dim]), end_of(dim), std::max<std::int64_t>(extents_.most(op_, dim), 1)};
}

// Declares the copy, redirects the cells' reads to it, and returns the loops that fill it.
std::vector<Statement> Lowering::fill_window(std::uint32_t read, const PackedDim& rows,
                                             const std::optional<Block>& chunk, const Packing& packing) {
  const Access& access = op_.reads[read];
  TensorArgument memory{
      "p" + std::to_string(kernel_.tensors.size()), {op_.operands[access.tensor].element, {}}, Local{}};
  Load outside = kernel_.loads[loads_[read]], inside;
  Store store;
  std::vector<For> nest;
  std::vector<std::size_t> of_row;  // the dims that the length of a row depends on
  for (std::size_t axis = 0; axis < access.projection.start.rows.size(); ++axis) {
    const AffineExpr& row = access.projection.start.rows[axis];
    AffineExpr first = number(row.offset), length = number(1);
    of_row.clear();
    std::int64_t extent = 1;
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      const std::int64_t c = row.coefficients[d];
      if (c == 0) continue;
      auto run = run_inside(d, rows, chunk, packing);
      if (!run) {
        first = plus(first, variable(frame_.at[d]), c);
        continue;
      }
      of_row.push_back(d);
      AffineExpr last = plus(run->end, number(-1));
      first = plus(first, c > 0 ? run->first : last, c);
      length = plus(length, plus(last, run->first, -1), std::abs(c));
      extent += std::abs(c) * (run->most - 1);
    }
    For along;
    along.variable = new_variable("w");
    along.lower = {bound(number(0))};
    along.upper = {bound(length)};
    nest.push_back(std::move(along));
    memory.type.shape.push_back(extent);
    memory.local->extents.push_back(extent);
    memory.local->origin.push_back(number(0));
    outside.at[axis].affine = plus(first, variable(nest.back().variable));
    inside.at.push_back({plus(over_variables(row), first, -1), {}, false});
  }
  const auto from = static_cast<std::uint32_t>(kernel_.loads.size());
  kernel_.loads.push_back(std::move(outside));
  inside.tensor = static_cast<std::uint32_t>(kernel_.tensors.size());
  store.targets.push_back({inside.tensor, {}, kernel_.exprs.read(from, memory.type.element)});
  for (const For& along : nest) store.targets[0].at.push_back(variable(along.variable));
  const std::int64_t memory_row = memory.type.shape.empty() ? 1 : memory.type.shape.back();
  kernel_.tensors.push_back(std::move(memory));
  if (are_speculatable({store.targets[0].value})) {
    auto is_known = [&](std::size_t d) {
      const std::int64_t size = extents_.sizes[d];
      if (chunk && packing.chunked == d) return false;
      return extents_.exact[d] && (d != rows.dim || rows.block_size == size);
    };
    const std::uint32_t lanes = lanes_of_copy(kernel_.tensors[inside.tensor].type.element, memory_row);
    if (std::ranges::all_of(of_row, is_known)) in_known_lanes(nest, lanes, of_row, memory_row);
    else in_lanes(nest, lanes);
  }
  loads_[read] = static_cast<std::uint32_t>(kernel_.loads.size());
  kernel_.loads.push_back(std::move(inside));
  return around(std::move(nest), {{std::move(store)}});
}

// The same for a few steps over a row whose length is known: what they check is then computed once for all rows.
void Lowering::in_known_lanes(std::vector<For>& nest, std::uint32_t count, const std::vector<std::size_t>& dims,
                              std::int64_t length) {
  constexpr std::int64_t most_steps = 4;
  const std::int64_t steps = (length + count - 1) / count;
  if (steps > most_steps) return in_lanes(nest, count);
  for (std::size_t d : dims) assume(d, 0, extents_.sizes[d]);
  in_lanes(nest, count);
  For &vectors = nest[nest.size() - 2], &lanes = nest.back();
  vectors.kind = LoopKind::unrolled;
  vectors.count = static_cast<std::uint32_t>(steps);
  vectors.step = 1;
  vectors.upper.clear();
  lanes.lower = {bound(scale(variable(vectors.variable), count))};
  lanes.upper.clear();
  if (length % count != 0) lanes.upper = {bound(number(length))};
}

// Turns the innermost loop into steps of that many lanes.
void Lowering::in_lanes(std::vector<For>& nest, std::uint32_t count) {
  For lanes = nest.back();
  lanes.kind = LoopKind::lanes;
  lanes.count = count;
  For& steps = nest.back();
  steps.variable = new_variable("s");
  steps.step = count;
  lanes.lower = {bound(variable(steps.variable))};
  nest.push_back(std::move(lanes));
}

}  // namespace tap::backend
