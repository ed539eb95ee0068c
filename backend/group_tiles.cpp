#include "backend/group_tiles.h"

#include <algorithm>
#include <cstdlib>

namespace tap::backend {

using namespace ir;

namespace {

bool is_walked(const Operator& group, std::uint32_t dim) {
  return std::any_of(group.blockings.begin(), group.blockings.end(), [&](const Blocking& b) {
    return b.dim == dim && group.dims[b.block_dim].role == DimRole::reduction;
  });
}

// The most points of one of the blocks, of all those that cut the dim.
std::int64_t walked_points(const Operator& group, std::uint32_t dim, std::int64_t points) {
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

// Bytes of what is only inside, for so many points of each dim.
double inner_bytes(const GroupView& group, const MovingDemand& windows, const std::vector<bool>& outside,
                   const std::vector<std::int64_t>& points) {
  double bytes = 0;
  for (std::size_t v = 0; v < group.graph.values.size(); ++v) {
    if (outside[v]) continue;
    std::vector<Window> region = windows.values[v];
    for (Window& w : region)
      for (std::size_t g = 0; g < points.size(); ++g) w.length += std::abs(w.start.coefficients[g]) * (points[g] - 1);
    bytes += region_bytes(group.graph.values[v].type, region);
  }
  return bytes;
}

}  // namespace

std::vector<std::int64_t> tile_points(const Program& program, const Operator& group,
                                      const std::vector<std::int64_t>& most) {
  GroupView view = view_of(program, group);
  MovingDemand windows = moving_demand(view);
  std::vector<bool> outside(view.graph.values.size(), false);
  for (const auto* list : {&view.graph.inputs, &view.graph.outputs})
    for (ValueId v : *list) outside[v.index()] = true;
  std::vector<std::int64_t> points(group.dims.size(), 1);
  for (std::uint32_t d = 0; d < points.size(); ++d)
    if (is_walked(group, d)) points[d] = walked_points(group, d, most[d]);
  for (bool grown = true; grown;) {
    grown = false;
    for (std::uint32_t d = static_cast<std::uint32_t>(points.size()); d-- > 0;) {
      if (group.dims[d].role == DimRole::counter || is_walked(group, d) || points[d] >= most[d]) continue;
      std::vector<std::int64_t> more = points;
      more[d] = std::min(2 * points[d], most[d]);
      if (inner_bytes(view, windows, outside, more) > tile_bytes) continue;
      points = std::move(more);
      grown = true;
    }
  }
  return points;
}

}  // namespace tap::backend
