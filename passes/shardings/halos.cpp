#include "passes/shardings/halos.h"

#include <algorithm>
#include <optional>

#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"

namespace tap::passes {
namespace {

std::pair<std::int64_t, std::int64_t> reach_of(const Factors& factors, std::size_t operand, std::size_t axis) {
  std::optional<std::pair<std::int64_t, std::int64_t>> reach;
  for (const TensorFactors& read : factors.operands) {
    if (read.tensor != operand || axis >= read.axes.size()) continue;
    const auto& [indexed_by, before, after] = read.axes[axis];
    reach = reach ? std::pair(std::max(reach->first, before), std::max(reach->second, after))
                  : std::pair(before, after);
  }
  return reach.value_or(std::pair<std::int64_t, std::int64_t>{});
}

}  // namespace

Halo halo_of(const ir::Mesh& mesh, const Factors& factors, std::size_t operand, const ir::Sharding& sharding,
             const Shape& shape) {
  const Shape local = local_shape(mesh, sharding, shape);
  Halo halo;
  std::int64_t required = 1, available = 1;
  for (std::size_t a = 0; a < local.size(); ++a) {
    const auto [before, after] = size_of(mesh, sharding.dims[a].axes) > 1 ? reach_of(factors, operand, a)
                                                                          : std::pair<std::int64_t, std::int64_t>{};
    required *= std::clamp<std::int64_t>(local[a] + before + after, 0, shape[a]);
    available *= std::max<std::int64_t>(std::min(local[a], local[a] + after) - std::max<std::int64_t>(0, -before), 0);
    if (before != 0 || after != 0) halo.edges.push_back({a, before, after});
  }
  if (required > available) halo.cells = required - available;
  return halo;
}

}  // namespace tap::passes
