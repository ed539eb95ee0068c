#include "cost/search/input_parts.h"

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"

namespace tap::cost {

using namespace ir;

namespace {

// The first axis of the input that is divided evenly, else the first that is long enough.
std::optional<std::size_t> axis_to_divide(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                                          std::int64_t blocks) {
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t all = size_of(mesh, sharding.dims[d].axes) * blocks;
    if (all <= shape[d] && shape[d] % all == 0) return d;
    if (!found && all <= shape[d]) found = d;
  }
  return found;
}

}  // namespace

std::vector<Sharding> parts_of_input(const Program& program, const Sharding& need, const Shape& shape,
                                     std::optional<AxisId> unused) {
  const Mesh& mesh = program[need.mesh];
  Axes used;
  if (unused) used.push_back({*unused, {}});
  for (const DimSharding& dim : need.dims) used.insert(used.end(), dim.axes.begin(), dim.axes.end());
  std::vector<Sharding> found{need};
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    const AxisRef axis{AxisId(a), {}};
    if (mesh.axes[a].size < 2 || overlap(mesh, used, {axis})) continue;
    for (std::size_t k = 0, count = found.size(); k < count; ++k)
      if (const auto d = axis_to_divide(mesh, found[k], shape, mesh.axes[a].size)) {
        found.push_back(found[k]);
        append(mesh, found.back().dims[*d].axes, axis);
      }
  }
  found.erase(found.begin());
  return found;
}

std::vector<Decision> lines_of_input(const Program& program, const std::string& input, const Sharding& parts) {
  const Mesh& mesh = program[parts.mesh];
  std::vector<Decision> lines;
  for (std::size_t d = 0; d < parts.dims.size(); ++d)
    for (const AxisRef& axis : parts.dims[d].axes) {
      PlannedSplit line{.operation = input, .dim = "axis " + std::to_string(d), .blocks = {size_of(mesh, Axes{axis})}};
      line.placement = Placement::mesh_axis;
      line.mesh = mesh.name;
      line.axis = named(mesh, axis);
      lines.emplace_back(std::move(line));
    }
  return lines;
}

}  // namespace tap::cost
