#include "ir/shardings/mesh_position.h"

#include <algorithm>

#include "ir/graph.h"
#include "support/check.h"

namespace tap::ir {

std::int64_t device_count(const Mesh& mesh) {
  std::int64_t count = 1;
  for (const MeshAxis& axis : mesh.axes) count *= axis.size;
  return count;
}

std::int64_t device_at(const Mesh& mesh, std::int64_t index) {
  return mesh.devices.empty() ? index : mesh.devices[static_cast<std::size_t>(index)];
}

std::int64_t index_in_mesh(const Mesh& mesh, std::int64_t device) {
  if (mesh.devices.empty()) return device < device_count(mesh) ? device : -1;
  auto found = std::find(mesh.devices.begin(), mesh.devices.end(), device);
  return found == mesh.devices.end() ? -1 : found - mesh.devices.begin();
}

std::vector<std::int64_t> position_of(const Mesh& mesh, std::int64_t index) {
  std::vector<std::int64_t> position(mesh.axes.size());
  for (std::size_t a = mesh.axes.size(); a-- > 0;) {
    position[a] = index % mesh.axes[a].size;
    index /= mesh.axes[a].size;
  }
  return position;
}

std::int64_t coordinate(const Mesh& mesh, const std::vector<std::int64_t>& position, const AxisRef& axis) {
  const std::int64_t at = position[axis.id.index()];
  if (!axis.sub) return at;
  return at / (mesh[axis.id].size / (axis.sub->pre_size * axis.sub->size)) % axis.sub->size;
}

std::int64_t size_of(const Mesh& mesh, const AxisRef& axis) { return axis.sub ? axis.sub->size : mesh[axis.id].size; }

bool have_one_set(const Mesh& a, const Mesh& b) {
  if (a.axes.empty() && b.axes.empty()) return true;
  if (a.axes.empty()) return index_in_mesh(b, device_at(a, 0)) >= 0;
  if (b.axes.empty()) return have_one_set(b, a);
  return device_count(a) == device_count(b);
}

const Mesh* with_other_devices(std::span<const Mesh> meshes, const Mesh& mesh) {
  auto found =
      std::find_if(meshes.begin(), meshes.end(), [&](const Mesh& other) { return !have_one_set(mesh, other); });
  return found == meshes.end() ? nullptr : &*found;
}

std::string devices_in_words(const Mesh& mesh) {
  if (mesh.axes.empty() && !mesh.devices.empty()) return "the device " + std::to_string(mesh.devices.front());
  const std::int64_t count = device_count(mesh);
  return count == 1 ? "the device 0" : "the devices 0 to " + std::to_string(count - 1);
}

}  // namespace tap::ir
