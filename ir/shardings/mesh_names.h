// Meshes and axes by name: parsing maps names to ids, and printing maps ids to names.
//
//   pod.model:(1)2     MeshId 0, AxisRef{AxisId 1, (1)2}     with mesh pod = [data: 2, model: 4]
#pragma once

#include "ir/shardings/sharding.h"

namespace tap::ir {

// A part of an axis whose mesh is not yet known.
struct AxisName {
  std::string name;
  std::optional<SubAxis> sub;
  bool operator==(const AxisName&) const = default;
};
std::string to_string(const AxisName& axis);  // model:(1)2
std::string to_string(const Mesh& mesh, const AxisRef& axis);
std::string to_string(const std::vector<Mesh>& meshes, const Sharding& sharding);  // pod[{data}, {model, ?}p1]
AxisName named(const Mesh& mesh, const AxisRef& axis);

// The first mesh of this name.
std::optional<MeshId> find_mesh(const std::vector<Mesh>& meshes, const std::string& name);
std::optional<AxisId> find_axis(const Mesh& mesh, const std::string& name);

// For an axis that is named without its mesh: the only mesh that has it; nothing if none or several do.
std::optional<MeshId> sole_mesh_with(const std::vector<Mesh>& meshes, const std::string& axis);

}  // namespace tap::ir
