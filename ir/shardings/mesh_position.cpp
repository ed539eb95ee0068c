#include "ir/shardings/mesh_position.h"

#include "ir/graph.h"
#include "support/check.h"

namespace tap::ir {

std::int64_t device_count(const Mesh& mesh) {
  std::int64_t count = 1;
  for (const MeshAxis& axis : mesh.axes) count *= axis.size;
  return count;
}

std::int64_t device_at(const Mesh& mesh, std::int64_t place) {
  return mesh.devices.empty() ? place : mesh.devices[static_cast<std::size_t>(place)];
}

std::int64_t place_of(const Mesh& mesh, std::int64_t device) {
  if (mesh.devices.empty()) return device < device_count(mesh) ? device : -1;
  auto found = std::find(mesh.devices.begin(), mesh.devices.end(), device);
  return found == mesh.devices.end() ? -1 : found - mesh.devices.begin();
}

std::vector<std::int64_t> position_of(const Mesh& mesh, std::int64_t place) {
  std::vector<std::int64_t> position(mesh.axes.size());
  for (std::size_t a = mesh.axes.size(); a-- > 0;) {
    position[a] = place % mesh.axes[a].size;
    place /= mesh.axes[a].size;
  }
  return position;
}

std::int64_t coordinate(const Mesh& mesh, const std::vector<std::int64_t>& position, const AxisRef& axis) {
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    if (mesh.axes[a].name != axis.name) continue;
    if (!axis.sub) return position[a];
    std::int64_t minor = mesh.axes[a].size / (axis.sub->pre_size * axis.sub->size);
    return position[a] / minor % axis.sub->size;
  }
  TAP_UNREACHABLE("the mesh `" + mesh.name + "` has no axis `" + axis.name + "`");
}

std::int64_t size_of(const Mesh& mesh, const AxisRef& axis) {
  if (axis.sub) return axis.sub->size;
  const MeshAxis* found = find_axis(mesh, axis.name);
  TAP_CHECK(found, "the mesh `" + mesh.name + "` has no axis `" + axis.name + "`");
  return found->size;
}

const Mesh* find_mesh(const Program& program, const std::string& name) {
  for (const Mesh& mesh : program.meshes)
    if (mesh.name == name) return &mesh;
  return nullptr;
}

const MeshAxis* find_axis(const Mesh& mesh, const std::string& name) {
  for (const MeshAxis& axis : mesh.axes)
    if (axis.name == name) return &axis;
  return nullptr;
}

}  // namespace tap::ir
