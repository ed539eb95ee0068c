// What a group's tile reads from far memory and no later operation of it reads again: the same cells of the next tile are fetched
// there, while this tile is computed and stored. Else memory rests until the next tile waits for it. So are results of which a store
// reads the line first.
//
//   s[i] = sum[j] x[i, j] * x[i, j]    y[i, j] = x[i, j] * s[i]    by rows
//
//   for it
//     …                             s, which reads x[it, j] from memory
//     for j0
//       fetch x[it + 1, j0]
//       fetch y[it + 1, j0]
//       y[it, j0 + 0..16] = …
#include <algorithm>
#include <cstdlib>

#include "backend/lower/lower_group.h"
#include "backend/tiles/non_temporal_results.h"
#include "backend/tiles/overlapping_tiles.h"
#include "ir/graph.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

bool GroupLowering::is_far(ValueId v) const {
  const TensorType& type = graph_[v].type;
  return element_count(type.shape) > machine_.l3_bytes / static_cast<std::int64_t>(size_of(type.element));
}

// Of a tile, in far memory.
std::int64_t GroupLowering::far_bytes() const {
  std::int64_t all = 0;
  for (const auto* list : {&graph_.inputs, &graph_.outputs})
    for (ValueId v : *list) {
      auto bytes = static_cast<std::int64_t>(is_far(v) ? size_of(graph_[v].type.element) : 0);
      for (const DimSpan& span : regions_[v.index()]) bytes = checked::mul(bytes, span.most);
      all = checked::add(all, bytes);
    }
  return all;
}

// By operand or result of a map. Pre: its section is being added.
std::vector<Lowering::NextTile> GroupLowering::next_tiles(std::size_t operation) const {
  std::vector<Lowering::NextTile> found;
  if (tiles_.empty() || levels_.size() > 1 || !program_[graph_.operations[operation].op].map()) return found;
  const std::size_t dim = tiles_.back().dim;
  auto reads = [&](std::size_t other, ValueId v) {
    return windows_.demanded[other] && !is_direct_copy_[other] &&
           std::ranges::count(graph_.operations[other].operands, v) > 0;
  };
  auto is_loaded = [&](ValueId v) { return is_far(v) && !is_non_temporal(graph_[v].type, machine_); };
  // Stores past the caches wait for the same buffers as loads into the first one.
  const bool near = std::ranges::all_of(graph_.outputs, is_loaded) && far_bytes() <= machine_.l1_bytes;
  constexpr std::int64_t most_ahead = 4, part = 4;  // of the first cache
  const std::int64_t parts = checked::mul(far_bytes(), part);
  const std::int64_t ahead = near ? std::clamp((machine_.l1_bytes + parts - 1) / parts, std::int64_t{1}, most_ahead)
                                  : 1;
  auto add = [&](ValueId v, std::uint32_t k, bool is_result) {
    Lowering::NextTile next{k, is_result, near, {}};
    auto bytes = static_cast<std::int64_t>(size_of(graph_[v].type.element));
    bool moves = false, overlap = false;
    for (std::size_t axis = 0; axis < regions_[v.index()].size(); ++axis) {
      const Window& window = windows_.values[v.index()][axis];
      next.distance.push_back(checked::mul(window.start.coefficients[dim], checked::mul(ahead, points_[dim])));
      bytes = checked::mul(bytes, regions_[v.index()][axis].most);
      moves |= next.distance.back() != 0;
      overlap |= overlaps(window);
    }
    constexpr std::int64_t share = 4;  // of the second cache: this tile is there, too, and its results
    if (moves && !overlap && bytes <= machine_.l2_bytes / share) found.push_back(std::move(next));
  };
  const auto& operands = graph_.operations[operation].operands;
  for (std::uint32_t k = 0; k < operands.size(); ++k) {
    const ValueId v = operands[k];
    if (std::ranges::count(graph_.inputs, v) == 0 || std::ranges::count(operands, v) > 1 || !is_far(v)) continue;
    bool earlier = false, later = false;
    for (std::size_t o = 0; o < graph_.operations.size(); ++o)
      if (o != operation) (o < operation ? earlier : later) |= reads(o, v);
    if (earlier && !later) add(v, k, false);
  }
  const auto& results = graph_.operations[operation].results;
  for (std::uint32_t k = 0; k < results.size(); ++k)
    if (std::ranges::count(graph_.outputs, results[k]) > 0 && is_loaded(results[k])) add(results[k], k, true);
  return found;
}

// A line for each vector of a map, or part of one.
std::vector<Statement> Lowering::prefetch_tiles(const RegisterTile& tile, const Part* rows, const Part& lanes) const {
  std::vector<Statement> result;
  auto add = [&](std::uint32_t tensor, const NextTile& next, std::vector<AffineExpr> at) {
    for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] = plus(at[axis], number(next.distance[axis]));
    if (is_contiguous_along(at, frame_.at[tile.dim]))
      append(result, across(tile, rows, &lanes, {{Prefetch{tensor, std::move(at), next.near}}}));
  };
  for (const NextTile& next : next_tiles_) {
    for (std::size_t r = 0; r < op_.reads.size() && !next.result; ++r) {
      const Load& load = kernel_.loads[loads_[r]];
      if (op_.reads[r].tensor != next.tensor) continue;
      if (std::ranges::any_of(load.at, [](const Coordinate& c) { return c.data || c.checked; })) continue;
      std::vector<AffineExpr> at;
      for (const Coordinate& c : load.at) at.push_back(c.affine);
      add(load.tensor, next, std::move(at));
    }
    if (!next.result) continue;
    for (const Store::Target& target : kept(std::vector<CellId>(op_.writes.size())).targets)
      if (target.tensor == frame_.results[next.tensor]) add(target.tensor, next, target.at);
  }
  return result;
}

}  // namespace tap::backend
