#include "backend/tiles/step_blocks.h"

#include <algorithm>

#include "backend/tiles/cache_sets.h"
#include "backend/tiles/patterns.h"
#include "ir/graph.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr std::int64_t streams = 8;   // rows that hardware prefetchers follow at a time
constexpr std::int64_t few_rows = 2;  // more do enough for each cell to hide its latency

// The outermost reduction dim, if its points can be processed in blocks, and nothing else is reduced.
std::optional<std::size_t> only_reduction(const Operator& op, const Extents& extents) {
  std::optional<std::size_t> found;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
    if (op.dims[d].role != DimRole::reduction || (extents.exact[d] && extents.sizes[d] == 1)) continue;
    if (found) return {};
    found = d;
  }
  if (!found || is_constrained(op, *found)) return {};
  for (const Blocking& b : op.blockings)
    if (b.dim == *found || b.block_dim == *found) return {};
  return found;
}

// Whether the read is of an operand in memory, contiguous along the lanes, of which a tile has a part of each row, and no two
// tiles the same part.
bool is_stream(const Operator& op, const Access& read, const RegisterTile& tile, std::size_t along,
               const Extents& extents, const Machine& machine) {
  const auto cell_bytes = static_cast<std::int64_t>(size_of(op.operands[read.tensor].element));
  if (std::ranges::any_of(read.coordinates, [](const auto& from_data) { return from_data.has_value(); })) return false;
  if (!is_contiguous_along(read.projection.start.rows, tile.dim)) return false;
  if (distance_along(op, read, along) < 2 * tile.lanes * tile.vectors * cell_bytes) return false;
  std::int64_t bytes = cell_bytes;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (d == tile.rows) continue;
    if (d == tile.dim || d == along) bytes = checked::mul(bytes, extents.sizes[d]);
    else if (op.dims[d].role == DimRole::parallel && extents.sizes[d] > 1 && !uses(read, d)) return false;
  }
  return bytes > machine.l3_bytes;
}

}  // namespace

std::optional<StepBlocks> choose_step_blocks(const Operator& op, const RegisterTile& tile, const Extents& extents,
                                             const Machine& machine) {
  if (!op.reduce() || tile.along_reduction || is_constrained(op, tile.dim)) return {};
  const std::int64_t rows = tile.rows ? extents.sizes[*tile.rows] : 1;
  if (rows > few_rows || (tile.rows && is_constrained(op, *tile.rows))) return {};
  const auto along = only_reduction(op, extents);
  if (!along || extents.sizes[*along] <= 2 * streams) return {};
  auto streamed = [&](const Access& read) { return is_stream(op, read, tile, *along, extents, machine); };
  try {
    if (std::ranges::none_of(op.reads, streamed)) return {};
  } catch (const Overflow&) {  // such a number of points is never processed
    return {};
  }
  std::int64_t result_bytes = 0;
  for (const Access& write : op.writes) {
    if (!is_contiguous_along(write.projection.start.rows, tile.dim)) return {};
    result_bytes += static_cast<std::int64_t>(size_of(op.results[write.tensor].element));
  }
  const std::int64_t step = static_cast<std::int64_t>(tile.lanes) * tile.vectors;
  const std::int64_t in_first_cache = machine.l1_bytes / 2 / (rows * result_bytes);
  return StepBlocks{*along, streams, std::max<std::int64_t>(in_first_cache / step, 2) * step};
}

}  // namespace tap::backend
