// Panels that are copied from short rows of far memory, one after another: a row is too short for the hardware prefetcher to follow,
// and the next point of the loop around reads what comes after it. So each row fetches that while it is copied.
//
//   C[e, d, c, b, a] = sum[f] A[a, f, b, c, e] * B[d, f]
//
//     for c in lo.c..hi.c
//       for f, a, e                           48 × 48 rows of 192 bytes
//         fetch A[a, f, b, c + 1, e]
//         p[e, f, a] = A[a, f, b, c, e]
#include <algorithm>

#include "backend/lower/lowering.h"
#include "backend/tiles/cache_sets.h"

namespace tap::backend {

using namespace ir;

// The loop around the copy of lane operands whose next point is copied next; none if a copy has several blocks.
std::optional<std::size_t> Lowering::dim_of_next_fill(const RegisterTile& tile, const Packing& packing,
                                                      const Extents& extents) const {
  if (packing.chunked || packing.by_first_rows || extents.most(op_, tile.dim) > packing.lane_block) return {};
  const std::vector<std::size_t> outside = outside_packing(tile, packing);
  return !outside.empty() && extents.sizes[outside.back()] > 1 ? std::optional(outside.back()) : std::nullopt;
}

// What is read at the dim's next point. `across`: the dim along which the operand lies in memory.
std::optional<Prefetch> Lowering::fetch_of_next_fill(const Pack& pack, std::size_t across, std::size_t next,
                                                     const Extents& extents) const {
  const Access& access = op_.reads[pack.read];
  const Load& load = kernel_.loads[pack.source];
  const TensorType& type = kernel_.tensors[load.tensor].type;
  const auto cell = static_cast<std::int64_t>(size_of(type.element));
  const std::int64_t foreseen = 8 * machine_.line_bytes;
  const bool far = element_count(type.shape) > machine_.l2_bytes / cell;
  const bool both_fit = element_count(kernel_.tensors[pack.tensor].type.shape) <= machine_.l2_bytes / cell / 2;
  if (!far || !both_fit || extents.most(op_, across) > foreseen / cell || distance_along(type, access, next) == 0)
    return {};
  // Rows that follow one another are a long one.
  const std::int64_t row = extents.most(op_, across) * cell;
  auto goes_on = [&](std::size_t d) { return d != across && distance_along(type, access, d) == row; };
  if (std::ranges::any_of(pack.inner, goes_on)) return {};
  Prefetch fetch{load.tensor, {}};
  for (const Coordinate& c : load.at) {
    if (c.data || c.checked) return {};
    fetch.at.push_back(shifted(c.affine, frame_.at[next], 1));
  }
  return fetch;
}

}  // namespace tap::backend
