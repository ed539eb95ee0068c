#include "backend/lower/tile_dim.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/tiles/cache_sets.h"
#include "backend/tiles/patterns.h"
#include "backend/tiles/point_work.h"
#include "backend/tiles/repeated_reads.h"

namespace tap::backend {

using namespace ir;

namespace {

// How many points are worth a call: about as many take 2.5 us, which is what another thread needs to begin and end where processors of a
// virtual machine are far apart. Rows and lanes of a register tile share what they read, and so are limited by what they compute; others
// by what they read and write, in the caches.
double points_worth_a_call(const Program& program, const Operator& op, const std::optional<RegisterTile>& tile) {
  constexpr double vectors_of_tiles = 1 << 14, full = 16;  // 16 lanes of f32 in a vector
  const double one_by_one = usual_points_of_call / usual_points(op);
  if (!tile || tile->along_reduction || tile->row_count * tile->vectors < 4) return one_by_one;
  return std::max(one_by_one, vectors_of_tiles * std::min<double>(tile->lanes, full) / steps_of_point(program, op));
}

// Bytes that a part along this dim has together in memory, of the tensors of which every point has a cell of its own.
std::int64_t bytes_together(const Operator& op, const Extents& extents, std::size_t dim) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  auto see = [&](const Access& access, const TensorType& type) {
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (extents.sizes[d] > 1 && !uses(access, d)) return;
    least = std::min(least, distance_along(type, access, dim));
  };
  for (const Access& read : op.reads) see(read, op.operands[read.tensor]);
  for (const Access& write : op.writes) see(write, op.results[write.tensor]);
  return least;
}

// Of a map: if several dims have enough points, the one along which parts lie most together in memory, or else `dim`. Threads that
// write pieces of some kilobytes in turns fetch each other's lines.
std::size_t dim_of_large_pieces(const Operator& op, const Extents& extents, const std::vector<std::size_t>& dims,
                                double parts, std::size_t dim) {
  constexpr double enough = 64;
  if (!op.map()) return dim;
  std::int64_t most = bytes_together(op, extents, dim);
  for (std::size_t d : dims) {
    if (static_cast<double>(extents.sizes[d]) < std::clamp(parts, 2.0, enough)) continue;
    const std::int64_t bytes = bytes_together(op, extents, d);
    if (bytes <= most) continue;
    dim = d, most = bytes;
  }
  return dim;
}

// Of a reduction: a dim along which parts have clearly less to repeat, or else `dim`.
std::size_t dim_of_least_repeated(const Operator& op, const Extents& extents, const std::vector<std::size_t>& dims,
                                  std::size_t dim, const std::optional<RegisterTile>& tile) {
  constexpr double clearly = 0.7;
  if (!op.reduce()) return dim;
  double least = share_of_parts(op, extents, dim, tile) * clearly;
  for (std::size_t d : dims) {
    const double share = share_of_parts(op, extents, d, tile);
    if (share < least) dim = d, least = share;
  }
  return dim;
}

// A scan visits each point of its dim once.
double points_of(const Operator& op, const Extents& extents) {
  const std::optional<Scan> scan = native_scan(op);
  double points = 1;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (!scan || d != scan->reduced) points *= static_cast<double>(std::max<std::int64_t>(extents.sizes[d], 1));
  return points;
}

// The distance in memory from one row of an access to the next, where rows run along this dim. Nothing if all is one row.
std::optional<std::int64_t> bytes_between_rows(const Operator& op, const Extents& extents, const Access& access,
                                               const TensorType& type, std::size_t dim) {
  std::optional<std::int64_t> least;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (d == dim || extents.sizes[d] < 2 || !uses(access, d)) continue;
    const std::int64_t bytes = distance_along(type, access, d);
    if (!least || bytes < *least) least = bytes;
  }
  return least;
}

// The least size of parts along a dim of which a result is contiguous, if its rows do not all begin at a line: at each row two
// threads write the same line, and wait for it, which is to take less time than what they compute of the row.
//
//   y[k, j] = sum[t <= k] x[t, j]    7382 rows of 83     two threads took four times as long as one
std::int64_t least_part_of_rows(const Operator& op, const Extents& extents, std::size_t dim, double points) {
  constexpr std::int64_t line = 64;
  constexpr double points_a_line = 384;  // what a core computes until it has a line that another one has written
  double least = 1;
  for (const Access& write : op.writes) {
    const auto& axes = write.projection.start.rows;
    if (axes.empty() || axes.back().coefficients[dim] == 0) continue;
    const TensorType& type = op.results[write.tensor];
    const auto distance = bytes_between_rows(op, extents, write, type, dim);
    if (!distance || *distance % line == 0) continue;
    double rows = 1;
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (d != dim && uses(write, d)) rows *= static_cast<double>(std::max<std::int64_t>(extents.sizes[d], 1));
    least = std::max(least, static_cast<double>(extents.sizes[dim]) * points_a_line * rows / points);
  }
  return static_cast<std::int64_t>(std::min(least, 1e15));
}

}  // namespace

// Parts along a contiguous dim share cache lines, so such a dim must be considerably larger.
std::optional<std::size_t> choose_tile_dim(Kernel& kernel, const Program& program, const Operator& op,
                                           const Extents& extents, const std::vector<std::size_t>& dims,
                                           const std::optional<RegisterTile>& tile) {
  constexpr std::int64_t larger = 4;
  const double worth = points_worth_a_call(program, op, tile);
  const double points = points_of(op, extents);
  auto is_contiguous_along = [&](std::size_t d) {
    auto dense = [&](const Access& access) {
      const auto& rows = access.projection.start.rows;
      return !rows.empty() && rows.back().coefficients[d] != 0;
    };
    return std::ranges::any_of(op.reads, dense) || std::ranges::any_of(op.writes, dense);
  };
  std::int64_t most = 0;
  for (std::size_t d : dims)
    if (std::int64_t size = extents.sizes[d] * (is_contiguous_along(d) ? 1 : larger); !kernel.tile_dim || size > most) {
      kernel.tile_dim = d;
      most = size;
    }
  if (!kernel.tile_dim) return {};
  kernel.tile_dim = dim_of_large_pieces(op, extents, dims, points / worth, *kernel.tile_dim);
  kernel.tile_dim = dim_of_least_repeated(op, extents, dims, *kernel.tile_dim, tile);
  double each = points / static_cast<double>(std::max<std::int64_t>(extents.sizes[*kernel.tile_dim], 1));
  kernel.worth = std::max(each >= worth ? 1 : static_cast<std::int64_t>(std::ceil(worth / each)),
                          least_part_of_rows(op, extents, *kernel.tile_dim, points));
  return kernel.tile_dim;
}

}  // namespace tap::backend
