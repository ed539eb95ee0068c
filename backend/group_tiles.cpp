#include "backend/group_tiles.h"

#include <algorithm>
#include <cstdlib>

#include "ir/block_graph.h"

namespace tap::backend {

using namespace ir;

namespace {

bool is_walked(const Operator& group, std::uint32_t dim) {
  return std::any_of(group.blockings.begin(), group.blockings.end(), [&](const Blocking& b) {
    return b.dim == dim && group.dims[b.block_dim].role == DimRole::reduction;
  });
}

std::vector<std::uint32_t> walking_dims(const Operator& group) {
  std::vector<std::uint32_t> dims;
  for (std::uint32_t d = 0; d < group.dims.size(); ++d)
    if (group.dims[d].role == DimRole::reduction && is_block_dim(group, d)) dims.push_back(d);
  return dims;
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

// The box cut into parts of so many points of some dims.
std::vector<Box> parts_of(const Box& box, const std::vector<std::int64_t>& points, const std::vector<bool>& cut) {
  Box numbers;
  for (std::size_t d = 0; d < box.rank(); ++d)
    numbers.dims.push_back({0, cut[d] ? (box.dims[d].size() + points[d] - 1) / points[d] : 1});
  std::vector<Box> parts;
  auto number = first_point(numbers);
  for (bool more = number.has_value(); more; more = next_point(numbers, *number)) {
    parts.push_back(box);
    for (std::size_t d = 0; d < box.rank(); ++d) {
      if (!cut[d]) continue;
      std::int64_t lo = box.dims[d].lo + (*number)[d] * points[d];
      parts.back().dims[d] = intersect(Range{lo, lo + points[d]}, box.dims[d]);
    }
  }
  return parts;
}

std::vector<bool> dims_with(const Operator& group, DimRole role) {
  std::vector<bool> found;
  for (const IndexDim& dim : group.dims) found.push_back(dim.role == role);
  return found;
}

}  // namespace

std::vector<std::int64_t> tile_points(const Program& program, const Operator& group) {
  GroupView view = view_of(program, group);
  MovingDemand windows = moving_demand(view);
  std::vector<bool> outside(view.graph.values.size(), false);
  for (const auto* list : {&view.graph.inputs, &view.graph.outputs})
    for (ValueId v : *list) outside[v.index()] = true;
  std::vector<std::int64_t> points(group.dims.size(), 1);
  for (std::uint32_t d = 0; d < points.size(); ++d)
    if (is_walked(group, d))
      for (const Box& step : application_boxes(group, walking_dims(group), group.box()))
        points[d] = std::max(points[d], step.dims[d].size());
  for (bool grown = true; grown;) {
    grown = false;
    for (std::uint32_t d = static_cast<std::uint32_t>(points.size()); d-- > 0;) {
      std::int64_t size = group.dims[d].range.size();
      if (group.dims[d].role == DimRole::counter || is_walked(group, d) || points[d] >= size) continue;
      std::vector<std::int64_t> more = points;
      more[d] = std::min(2 * points[d], size);
      if (inner_bytes(view, windows, outside, more) > tile_bytes) continue;
      points = std::move(more);
      grown = true;
    }
  }
  return points;
}

std::vector<Box> group_tiles(const Operator& group, const Box& box, std::vector<std::int64_t> points,
                             std::size_t least) {
  std::vector<bool> parallel = dims_with(group, DimRole::parallel);
  for (std::size_t d = 0; d < points.size(); ++d)
    points[d] = std::min(points[d], std::max<std::int64_t>(box.dims[d].size(), 1));
  for (;;) {
    double count = 1;
    std::optional<std::size_t> widest;
    for (std::size_t d = 0; d < points.size(); ++d) {
      if (!parallel[d]) continue;
      count *= static_cast<double>((box.dims[d].size() + points[d] - 1) / points[d]);
      if (points[d] > 1 && (!widest || points[d] > points[*widest])) widest = d;
    }
    if (count == 0 || count >= static_cast<double>(least) || !widest) return parts_of(box, points, parallel);
    points[*widest] = (points[*widest] + 1) / 2;
  }
}

std::vector<Box> group_steps(const Operator& group, const Box& tile, const std::vector<std::int64_t>& points) {
  std::vector<bool> stepped = dims_with(group, DimRole::reduction);
  for (std::uint32_t d = 0; d < stepped.size(); ++d)
    stepped[d] = stepped[d] && !is_walked(group, d) && !is_block_dim(group, d);
  std::vector<Box> steps;
  for (const Box& walked : application_boxes(group, walking_dims(group), tile))
    for (Box& part : parts_of(walked, points, stepped)) steps.push_back(std::move(part));
  return steps;
}

}  // namespace tap::backend
