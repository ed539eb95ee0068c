// Panels of lane operands that come from far memory. The first rows of a block wait for their panel as fast as memory delivers it, and
// the other rows use it from near caches while memory rests. So the first of the others fetch the next panel, a line of each step:
//
//   y[i, j] = sum[k] a[i, k] * b[k, j]
//
//     for panels of b
//       for ip in 0..q                      panels of 14 rows
//         let ahead = min(ip, 2)            panels have two lines for each k; later rows find theirs cached
//         for k in kc..ke
//           fetch p[jp + 1, k, 16*ahead]
//           …
#include <algorithm>

#include "backend/lower/lowering.h"
#include "backend/tiles/cache_sets.h"
#include "backend/tiles/patterns.h"

namespace tap::backend {

using namespace ir;

// The lane operands' cells one panel later.
std::vector<Lowering::NextPanel> Lowering::next_panels(const RegisterTile& tile, const Packing& packing,
                                                       const std::vector<Pack>& copied, const Panels& columns,
                                                       const Panels& rows) const {
  constexpr std::int64_t fewest_rows = 2;  // panels of them
  const std::int64_t panels = std::min(extents_.most(op_, *tile.rows), packing.row_block) / tile.row_count;
  const std::int64_t fetching = panels - (packing.by_first_rows ? 1 : 0);
  if (panels < fewest_rows) return {};
  NextPanel next;
  next.row_panel = plus(variable(rows.number), number(packing.by_first_rows ? -1 : 0));
  next.last = std::min<std::int64_t>(fetching, tile.vectors);
  next.lines = (tile.vectors + next.last - 1) / next.last;
  next.first_lane = columns.first;
  std::vector<NextPanel> result;
  auto add = [&](const Load& load, std::uint32_t v, std::int64_t by) {
    const TensorType& type = kernel_.tensors[load.tensor].type;
    if (element_count(type.shape) <= machine_.l2_bytes / static_cast<std::int64_t>(size_of(type.element))) return;
    if (std::ranges::any_of(load.at, [](const Coordinate& c) { return c.data || c.checked; })) return;
    next.tensor = load.tensor;
    next.at.clear();
    for (const Coordinate& c : load.at) next.at.push_back(shifted(c.affine, v, by));
    result.push_back(next);
  };
  for (const Pack& pack : copied)
    if (!panel_crowds(pack.read, tile, packing))
      add(kernel_.loads[pack.source], frame_.at[tile.dim], static_cast<std::int64_t>(tile.lanes) * tile.vectors);
  // Panels that the kernel has made are near.
  for (std::uint32_t read : packing.lane_reads)
    if (!kernel_.tensors[kernel_.loads[loads_[read]].tensor].local) add(kernel_.loads[loads_[read]], columns.number, 1);
  return result;
}

// Whether the lines of a panel that is read in place share few sets of the second cache, as rows that are a power of two apart do.
bool Lowering::panel_crowds(std::uint32_t read, const RegisterTile& tile, const Packing& packing) const {
  constexpr std::int64_t ways = 16;
  Machine second = machine_;
  second.l1_bytes = machine_.l2_bytes;
  second.l1_sets = machine_.l2_bytes / machine_.line_bytes / ways;
  for (std::size_t d : dims_with(true)) {
    const std::int64_t steps = packing.chunked == d ? packing.chunk : extents_.sizes[d];
    const std::int64_t lines = lines_in_a_set(steps, distance_along(op_, op_.reads[read], d), second);
    if (uses(op_.reads[read], d) && lines * tile.vectors > ways / 2) return true;
  }
  return false;
}

// In each step of a reduction. `before` gets the definition of which lines these rows fetch.
std::vector<Statement> Lowering::prefetch_panels(const RegisterTile& tile, std::vector<Statement>& before) {
  std::vector<Statement> result;
  std::optional<std::uint32_t> ahead;
  for (const NextPanel& next : next_panels_) {
    if (!ahead) ahead = define(before, "ahead", {bound(next.row_panel), bound(number(next.last))}, false);
    for (std::int64_t line = 0; line < next.lines; ++line) {
      const AffineExpr first = plus(variable(next.first_lane), number(line * tile.lanes));
      Prefetch one{next.tensor, next.at};
      for (AffineExpr& e : one.at)
        e = with_value(e, frame_.at[tile.dim], plus(first, variable(*ahead), next.lines * tile.lanes));
      result.push_back({std::move(one)});
    }
  }
  return result;
}

}  // namespace tap::backend
