#include "backend/tiles/repeated_reads.h"

#include <algorithm>

#include "backend/tiles/cache_sets.h"
#include "backend/tiles/patterns.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr double usual_parts = 16;    // along a dim
constexpr double fewest_parts = 6;    // for all threads to have one
constexpr double enough_bytes = 512;  // together in memory: less is as slow as loading lines of the same page in turns
constexpr std::int64_t lanes = 32;    // of register tiles, which often run along a contiguous dim

std::int64_t points_at_once(const RegisterTile& tile, std::size_t dim) {
  if (dim == tile.dim) return tile.lanes * tile.vectors;
  return tile.rows == dim ? tile.row_count : 1;
}

}  // namespace

double share_of_parts(const Operator& op, const Extents& extents, std::size_t dim,
                      const std::optional<RegisterTile>& tile) {
  double all = 0, more = 0;
  std::int64_t at_once = 1;
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
    if (is_contiguous_along(access.projection.start.rows, dim)) at_once = lanes;
    const double together =
        static_cast<double>(distance_along(type, access, dim)) * static_cast<double>(extents.sizes[dim]) / usual_parts;
    more += bytes * std::min(1.0, enough_bytes / std::max(together, 1.0));
  };
  for (const Access& read : op.reads) see(read, op.operands[read.tensor]);
  for (const Access& write : op.writes) see(write, op.results[write.tensor]);
  auto parts_of = [&](std::int64_t points) {
    return static_cast<double>(std::max<std::int64_t>(extents.sizes[dim] / points, 1));
  };
  const double idle = tile ? std::max(fewest_parts / parts_of(points_at_once(*tile, dim)) - 1, 0.0) : 0;
  return more / std::max(all, 1.0) + 1 / parts_of(at_once) + idle;
}

}  // namespace tap::backend
