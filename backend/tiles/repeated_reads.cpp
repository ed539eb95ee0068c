#include "backend/tiles/repeated_reads.h"

#include <algorithm>

#include "backend/tiles/cache_sets.h"
#include "backend/tiles/patterns.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr double usual_parts = 16;    // along a dim, and threads
constexpr double enough_bytes = 512;  // together in memory: less is as slow as loading lines of the same page in turns
constexpr std::int64_t usual_lanes = 32;

std::int64_t points_at_once(const RegisterTile& tile, std::size_t dim) {
  if (dim == tile.dim) return tile.lanes * tile.vectors;
  return tile.rows == dim ? tile.row_count : 1;
}

}  // namespace

double share_of_parts(const Operator& op, const Extents& extents, std::size_t dim,
                      const std::optional<RegisterTile>& tile) {
  double all = 0, more = 0;
  std::int64_t at_once = tile ? points_at_once(*tile, dim) : 1;
  auto see = [&](const Access& access, const TensorType& type) {
    double bytes = static_cast<double>(size_of(type.element)), whole = bytes;
    for (std::int64_t extent : type.shape) whole *= static_cast<double>(extent);
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (uses(access, d)) bytes *= static_cast<double>(std::max<std::int64_t>(extents.sizes[d], 1));
    bytes = std::min(bytes, whole);  // windows overlap
    all += bytes;
    if (!uses(access, dim)) {
      more += bytes;
      return;
    }
    if (!tile && is_contiguous_along(access.projection.start.rows, dim)) at_once = usual_lanes;
    const double together =
        static_cast<double>(distance_along(type, access, dim)) * static_cast<double>(extents.sizes[dim]) / usual_parts;
    more += bytes * std::min(1.0, enough_bytes / std::max(together, 1.0));
  };
  for (const Access& read : op.reads) see(read, op.operands[read.tensor]);
  for (const Access& write : op.writes) see(write, op.results[write.tensor]);
  const auto parts = static_cast<double>(std::max<std::int64_t>(extents.sizes[dim] / at_once, 1));
  return more / std::max(all, 1.0) + 1 / parts + std::max(usual_parts / parts - 1, 0.0);
}

}  // namespace tap::backend
