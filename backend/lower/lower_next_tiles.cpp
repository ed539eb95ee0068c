// What a group's tile reads from far memory and no later operation of it reads again: the same cells of the next tile are fetched
// there, while this tile is computed and stored. Else memory rests until the next tile waits for it.
//
//   s[i] = sum[j] x[i, j] * x[i, j]    y[i, j] = x[i, j] * s[i]    by rows
//
//   for it
//     …                             s, which reads x[it, j] from memory
//     for j0
//       fetch x[it + 1, j0]
//       y[it, j0 + 0..16] = …
#include <algorithm>
#include <cstdlib>

#include "backend/lower/lower_group.h"
#include "backend/tiles/overlapping_tiles.h"
#include "ir/graph.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

// By operand of a map. Pre: its section is being added.
std::vector<Lowering::NextTile> GroupLowering::next_tiles(std::size_t operation) const {
  std::vector<Lowering::NextTile> result;
  if (tiles_.empty() || levels_.size() > 1 || !program_[graph_.operations[operation].op].map()) return result;
  const std::size_t dim = tiles_.back().dim;
  auto reads = [&](std::size_t other, ValueId v) {
    return windows_.demanded[other] && !is_direct_copy_[other] &&
           std::ranges::count(graph_.operations[other].operands, v) > 0;
  };
  const auto& operands = graph_.operations[operation].operands;
  for (std::uint32_t k = 0; k < operands.size(); ++k) {
    const ValueId v = operands[k];
    const auto cell = static_cast<std::int64_t>(size_of(graph_[v].type.element));
    if (std::ranges::count(graph_.inputs, v) == 0 || std::ranges::count(operands, v) > 1) continue;
    if (element_count(graph_[v].type.shape) <= machine_.l3_bytes / cell) continue;
    bool earlier = false, later = false;
    for (std::size_t o = 0; o < graph_.operations.size(); ++o)
      if (o != operation) (o < operation ? earlier : later) |= reads(o, v);
    if (!earlier || later) continue;
    Lowering::NextTile next{k, {}};
    std::int64_t bytes = cell;
    bool moves = false, overlap = false;
    for (std::size_t axis = 0; axis < regions_[v.index()].size(); ++axis) {
      const Window& window = windows_.values[v.index()][axis];
      next.distance.push_back(checked::mul(window.start.coefficients[dim], points_[dim]));
      bytes = checked::mul(bytes, regions_[v.index()][axis].most);
      moves |= next.distance.back() != 0;
      overlap |= overlaps(window);
    }
    constexpr std::int64_t share = 4;  // of the second cache: this tile is there, too, and its results
    if (moves && !overlap && bytes <= machine_.l2_bytes / share) result.push_back(std::move(next));
  }
  return result;
}

// A line for each vector of a map.
std::vector<Statement> Lowering::prefetch_tiles(const RegisterTile& tile, const Part* rows, const Part& lanes) const {
  std::vector<Statement> result;
  for (const NextTile& next : next_tiles_)
    for (std::size_t r = 0; r < op_.reads.size(); ++r) {
      const Load& load = kernel_.loads[loads_[r]];
      if (op_.reads[r].tensor != next.operand || !lanes.whole) continue;
      if (std::ranges::any_of(load.at, [](const Coordinate& c) { return c.data || c.checked; })) continue;
      Prefetch one{load.tensor, {}};
      for (std::size_t axis = 0; axis < load.at.size(); ++axis)
        one.at.push_back(plus(load.at[axis].affine, number(next.distance[axis])));
      if (is_contiguous_along(one.at, frame_.at[tile.dim]))
        append(result, across(tile, rows, &lanes, {{std::move(one)}}));
    }
  return result;
}

}  // namespace tap::backend
