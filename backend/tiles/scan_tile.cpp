#include "backend/tiles/scan_tile.h"

#include <algorithm>

#include "backend/tiles/patterns.h"
#include "backend/tiles/point_work.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

std::optional<RegisterTile> choose_scan_tile(const Program& program, const Operator& op, const Extents& extents,
                                             std::size_t along, const Machine& machine) {
  constexpr std::uint32_t rows_at_once =
      4;  // whose steps overlap, while their lines do not crowd a set of the first cache
  const PointWork work(program, op, extents, {}, machine);
  const auto components = static_cast<std::int64_t>(work.monoid()->components.size());
  std::optional<RegisterTile> rows;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (d == along || op.dims[d].role != DimRole::parallel || is_constrained(op, d) || extents.sizes[d] < 2) continue;
    if (work.is_contiguous(d)) {
      RegisterTile tile{d, static_cast<std::uint32_t>(full_vector_bytes) / work.bytes()};
      while (tile.lanes > 2 && tile.lanes / 2 >= extents.sizes[d]) tile.lanes /= 2;
      const std::int64_t most = machine.vector_registers / 2 / components,
                         all = (extents.sizes[d] + tile.lanes - 1) / tile.lanes;
      while (2 * tile.vectors <= most && static_cast<std::int64_t>(2 * tile.vectors * tile.lanes) <= extents.sizes[d])
        tile.vectors *= 2;
      // Short rows in one piece: pieces would pass through the lines that they share once more.
      const bool begins_at_lines = extents.sizes[d] * work.bytes() % full_vector_bytes == 0;
      if (!begins_at_lines && all <= most) tile.vectors = static_cast<std::uint32_t>(std::max<std::int64_t>(all, 1));
      return tile;
    }
    const auto count = static_cast<std::uint32_t>(std::min<std::int64_t>(rows_at_once, extents.sizes[d]));
    if (components * count <= 2 * rows_at_once) rows = RegisterTile{d, 1, 1, false, d, count};
  }
  return rows;
}

}  // namespace tap::backend
