// Meshes and axes by name, as texts have them: what is read becomes ids, and what is printed has been ids.
//
//   pod.model:(1)2     MeshId 0, AxisRef{AxisId 1, (1)2}     with mesh pod = [data: 2, model: 4]
#pragma once

#include "ir/shardings/sharding.h"

namespace tap::ir {

// The part of an axis before it is known of which mesh.
struct AxisName {
  std::string name;
  std::optional<SubAxis> sub;
  bool operator==(const AxisName&) const = default;
};
std::string to_string(const AxisName& axis);  // model:(1)2
std::string to_string(const Mesh& mesh, const AxisRef& axis);
std::string to_string(const std::vector<Mesh>& meshes, const Sharding& sharding);  // pod[{data}, {model, ?}p1]
AxisName named(const Mesh& mesh, const AxisRef& axis);

// The first of that name.
std::optional<MeshId> find_mesh(const std::vector<Mesh>& meshes, const std::string& name);
std::optional<AxisId> find_axis(const Mesh& mesh, const std::string& name);

// For an axis that is named without its mesh: the sole mesh that has it; nothing where none or several have it.
std::optional<MeshId> sole_mesh_with(const std::vector<Mesh>& meshes, const std::string& axis);

}  // namespace tap::ir
