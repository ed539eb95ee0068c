#include "backend/tiles/group_tiles.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "backend/tiles/needed_ranges.h"
#include "backend/tiles/non_temporal_results.h"
#include "backend/tiles/overlapping_tiles.h"
#include "backend/tiles/register_tile.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

bool is_streamed(const Operator& group, std::uint32_t dim) {
  return std::any_of(group.blockings.begin(), group.blockings.end(), [&](const Blocking& b) {
    return b.dim == dim && group.dims[b.block_dim].role == DimRole::reduction;
  });
}

// The maximum points of a block, over all blockings of the dim.
std::int64_t streamed_points(const Operator& group, std::uint32_t dim, std::int64_t points) {
  for (const Blocking& b : group.blockings) {
    if (b.dim != dim || group.dims[b.block_dim].role != DimRole::reduction) continue;
    const auto& ends = b.blocks.boundaries;
    std::int64_t largest = (points + b.blocks.count - 1) / b.blocks.count;
    if (!ends.empty()) largest = 0;
    for (std::size_t n = 1; n < ends.size(); ++n) largest = std::max(largest, ends[n] - ends[n - 1]);
    points = std::min(points, largest);
  }
  return std::max<std::int64_t>(points, 1);
}

// The bytes of a group's values, for this many points of each dim.
class Bytes {
 public:
  explicit Bytes(const GroupView& group)
      : group_(group), windows_(moving_demand(group)), outside_(group.graph.values.size(), false) {
    for (const auto* list : {&group.graph.inputs, &group.graph.outputs})
      for (ValueId v : *list) outside_[v.index()] = true;
  }

  // Of inner values that move with that dim.
  double moving(const std::vector<std::int64_t>& points, std::size_t dim) const {
    double bytes = 0;
    for (std::size_t v = 0; v < outside_.size(); ++v) {
      if (outside_[v] && !moves(v, dim)) continue;
      std::vector<Window> region = windows_.values[v];
      for (Window& w : region)
        for (std::size_t g = 0; g < points.size(); ++g) w.length += std::abs(w.start.coefficients[g]) * (points[g] - 1);
      bytes += region_bytes(group_.graph.values[v].type, region);
    }
    return bytes;
  }
  // Of data that each tile or step along that dim reads again.
  double staying(std::size_t dim) const {
    double bytes = 0;
    for (ValueId v : group_.graph.inputs) {
      const TensorType& type = group_.graph[v].type;
      if (!moves(v.index(), dim))
        bytes += static_cast<double>(size_of(type.element)) * static_cast<double>(element_count(type.shape));
    }
    return bytes;
  }

  // Of inputs and outputs, those that move with that dim: of all tiles.
  double outside(std::size_t dim) const {
    double bytes = 0;
    for (std::size_t v = 0; v < outside_.size(); ++v) {
      const TensorType& type = group_.graph.values[v].type;
      if (outside_[v] && moves(v, dim))
        bytes += static_cast<double>(size_of(type.element)) * static_cast<double>(element_count(type.shape));
    }
    return bytes;
  }
  bool moves(std::size_t value, std::size_t dim) const {
    const auto& region = windows_.values[value];
    return std::any_of(region.begin(), region.end(), [&](const Window& w) { return w.start.coefficients[dim] != 0; });
  }

 private:
  const GroupView& group_;
  MovingDemand windows_;
  std::vector<bool> outside_;
};

// Whether what is needed of an inner value ends at a place that depends on the dim: tiles then skip the rest.
bool bounds_others(const std::vector<std::vector<NeededRange>>& needed, std::size_t dim) {
  auto uses = [&](const std::optional<AffineExpr>& e) { return e && e->coefficients[dim] != 0; };
  return std::ranges::any_of(needed, [&](const std::vector<NeededRange>& of_operation) {
    return std::ranges::any_of(of_operation, [&](const NeededRange& r) { return uses(r.lo) || uses(r.hi); });
  });
}

// Whether points of the last dim are next to each other in all values of several axes, and no tile computes or sums what others do:
// then whole rows cost least.
bool is_by_rows(const GroupView& group, const MovingDemand& windows) {
  if (group.dims.empty()) return false;
  const std::size_t last = group.dims.size() - 1;
  auto is_map = [&](const Operation& operation) { return group.program[operation.op].map() != nullptr; };
  auto is_along = [&](const std::vector<Window>& region) {
    for (std::size_t axis = 0; axis < region.size() && region.size() > 1; ++axis)
      if ((region[axis].start.coefficients[last] != 0) != (axis + 1 == region.size())) return false;
    return true;
  };
  return std::ranges::all_of(group.graph.operations, is_map) && std::ranges::all_of(windows.values, is_along) &&
         std::ranges::none_of(windows.operations,
                              [](const auto& spans) { return std::ranges::any_of(spans, overlaps); });
}

// Whether points next to each other along the dim read some cells both.
bool reads_overlap(const GroupView& group, const MovingDemand& windows, std::size_t dim) {
  return std::ranges::any_of(group.graph.inputs, [&](ValueId v) {
    return std::ranges::any_of(windows.values[v.index()],
                               [&](const Window& w) { return w.start.coefficients[dim] != 0 && overlaps(w); });
  });
}

// Whether points of the dim are neighbours in all that the group reads along it, so that they are computed in lanes.
bool is_in_lanes(const GroupView& group, const MovingDemand& windows, std::size_t dim) {
  auto follows = [&](const Window& w) { return w.start.coefficients[dim] != 0; };
  return std::ranges::all_of(group.graph.inputs, [&](ValueId v) {
    const auto& region = windows.values[v.index()];
    return std::ranges::none_of(region, follows) || follows(region.back());
  });
}

// Whether tiles of any shape read as much: nothing that matters is read again along a parallel dim.
bool is_read_once(const Operator& group, const Bytes& bytes) {
  for (std::size_t d = 0; d < group.dims.size(); ++d)
    if (group.dims[d].role == DimRole::parallel && bytes.staying(d) > least_tile_bytes) return false;
  return true;
}

// Whether tiles along the dim, which share little, write parts of cache lines, and all is more than the last cache holds.
bool writes_parts_of_lines(const GroupView& group, const MovingDemand& windows, const Bytes& bytes, std::size_t dim) {
  auto in_parts = [&](ValueId v) {
    return bytes.moves(v.index(), dim) && !is_non_temporal(group.graph[v].type, reference_machine);
  };
  return bytes.outside(dim) > static_cast<double>(reference_machine.l3_bytes) &&
         bytes.staying(dim) < least_tile_bytes && !is_in_lanes(group, windows, dim) &&
         !reads_overlap(group, windows, dim) && std::ranges::any_of(group.graph.outputs, in_parts);
}

// A divisor of the size, if there is one between half of the points and all. With `in_lanes`, not one that leaves much of its
// vectors empty.
std::int64_t dividing(std::int64_t points, std::int64_t size, bool in_lanes) {
  constexpr std::int64_t lanes = full_vector_bytes / 4;
  auto fills = [&](std::int64_t n) { return !in_lanes || 8 * ((n + lanes - 1) / lanes * lanes) <= 9 * n; };
  for (std::int64_t n = points; 2 * n > points; --n)
    if (size % n == 0 && (n == size || fills(n))) return n;
  return points;
}

// Whole rows, then whole planes. Some rows together, if they read the same cells.
void grow_rows(const GroupView& group, const MovingDemand& windows, std::vector<std::int64_t>& points,
               const std::function<bool(std::uint32_t, double)>& grow) {
  constexpr std::int64_t together = 32;
  bool overlapping = false;
  const auto dims = static_cast<std::uint32_t>(points.size());
  for (std::uint32_t d = 0; d + 1 < dims; ++d)
    for (bool more = reads_overlap(group, windows, d); more && points[d] < together; overlapping = true)
      more = grow(d, most_tile_bytes);
  for (std::uint32_t d = dims; d-- > 0;)
    while (grow(d, overlapping && d + 1 == dims ? most_tile_bytes : least_tile_bytes)) {}
}

// As many tiles, of sizes that differ less, so that threads have equal shares.
std::int64_t equal(std::int64_t points, std::int64_t size) {
  const std::int64_t tiles = std::max<std::int64_t>((size + points - 1) / points, 1);
  return std::max<std::int64_t>((size + tiles - 1) / tiles, 1);
}

}  // namespace

// Doubles the points, the last dim first.
std::vector<std::int64_t> tile_points(const Program& program, const Operator& group,
                                      const std::vector<std::int64_t>& most) {
  const GroupView view = view_of(program, group);
  const Bytes bytes(view);
  const MovingDemand windows = moving_demand(view);
  const auto needed = needed_ranges(view, windows);
  const bool by_rows = is_by_rows(view, windows);
  auto limit = [&](std::size_t d) {
    constexpr std::int64_t least_points = 16, tiles = 4;
    // Loads and stores then alternate often enough that both are always under way.
    if (!by_rows && writes_parts_of_lines(view, windows, bytes, d)) return std::min(most[d], least_points);
    return bounds_others(needed, d) ? std::min(most[d], std::max(least_points, (most[d] + tiles - 1) / tiles))
                                    : most[d];
  };
  std::vector<std::int64_t> points(group.dims.size(), 1);
  for (std::uint32_t d = 0; d < points.size(); ++d)
    if (is_streamed(group, d)) points[d] = streamed_points(group, d, most[d]);
  auto grow = [&](std::uint32_t d, double least_bytes) {
    if (group.dims[d].role == DimRole::counter || is_streamed(group, d) || points[d] >= limit(d)) return false;
    std::vector<std::int64_t> more = points;
    more[d] = std::min(2 * points[d], limit(d));
    if (bytes.moving(more, d) > std::clamp(bytes.staying(d), least_bytes, most_tile_bytes)) return false;
    points = std::move(more);
    return true;
  };
  const auto dims = static_cast<std::uint32_t>(points.size());
  if (by_rows) grow_rows(view, windows, points, grow);
  else if (is_read_once(group, bytes))
    for (std::uint32_t d = dims; d-- > 0;)  // long runs of memory
      while (group.dims[d].role == DimRole::parallel && is_in_lanes(view, windows, d) && grow(d, least_tile_bytes)) {}
  for (bool grown = true; grown;) {
    grown = false;
    for (std::uint32_t d = dims; d-- > 0;) grown |= grow(d, least_tile_bytes);
  }
  points = grown_tiles(view, most, std::move(points));
  for (std::uint32_t d = 0; d < points.size(); ++d)
    if (!is_streamed(group, d)) points[d] = dividing(points[d], most[d], is_in_lanes(view, windows, d));
  for (std::uint32_t d = 0; by_rows && d + 1 < dims; ++d) points[d] = equal(points[d], most[d]);
  return points;
}

}  // namespace tap::backend
