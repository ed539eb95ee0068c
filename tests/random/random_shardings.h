// Random shardings of a program's values over a mesh of its own, of the program's devices: axes of 1 to 24 devices, parts of axes,
// several axes of one dim, sizes that do not divide.
#pragma once

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_position.h"

namespace tap::random {

template <class Choose>
ir::Mesh random_mesh(Choose& choose, std::int64_t devices) {
  ir::Mesh mesh{"s", {}, {}};
  for (const char* name : {"a", "b"}) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t size = 1; size <= devices; ++size)
      if (devices % size == 0) divisors.push_back(size);
    mesh.axes.push_back({name, divisors[static_cast<std::size_t>(choose(static_cast<std::int64_t>(divisors.size())))]});
    devices /= mesh.axes.back().size;
  }
  mesh.axes.push_back({"c", devices});
  return mesh;
}

// The axis, or where its size is a product a part of it.
template <class Choose>
ir::AxisRef random_axis(Choose& choose, const ir::Mesh& mesh) {
  ir::AxisRef ref{ir::AxisId(static_cast<std::size_t>(choose(static_cast<std::int64_t>(mesh.axes.size())))), {}};
  const std::int64_t size = mesh[ref.id].size;
  if (size % 2 == 0 && size > 2 && choose(2)) ref.sub = ir::SubAxis{size % 4 == 0 && choose(2) ? size / 2 : 1, 2};
  return ref;
}

// About half of the values of all graphs get a sharding.
template <class Choose>
void shard_at_random(ir::Program& program, Choose& choose) {
  const ir::Mesh mesh = random_mesh(choose, program.meshes.empty() ? 24 : device_count(program.meshes.front()));
  program.meshes.push_back(mesh);
  const ir::MeshId id(program.meshes.size() - 1);
  for (ir::Graph& graph : program.graphs)
    for (ir::Value& value : graph.values) {
      if (value.type.shape.empty() || choose(2)) continue;
      ir::Sharding sharding{id, std::vector<ir::DimSharding>(value.type.shape.size()), {}, {}, ""};
      for (std::int64_t tries = choose(4); tries > 0; --tries) {
        const ir::AxisRef axis = random_axis(choose, mesh);
        const auto dim = static_cast<std::size_t>(choose(static_cast<std::int64_t>(sharding.dims.size())));
        if (!overlap(mesh, used_axes(sharding), {axis})) sharding.dims[dim].axes.push_back(axis);
      }
      value.sharding = canonical(mesh, sharding);
    }
}

}  // namespace tap::random
