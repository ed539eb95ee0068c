#include "ir/shardings/mesh_names.h"

#include <fmt/format.h>

#include "ir/text_names.h"

namespace tap::ir {
namespace {

// Programs are also printed before they are verified.
constexpr const char* unknown = "?";

std::string name_of(const Mesh& mesh, AxisId axis) {
  return axis.index() < mesh.axes.size() ? mesh[axis].name : unknown;
}

// Axes in braces, major to minor: {data, model:(1)2, ?}
std::string braces(const Mesh& mesh, const std::vector<AxisRef>& axes, bool open) {
  std::vector<std::string> parts;
  for (const AxisRef& axis : axes) parts.push_back(to_string(mesh, axis));
  if (open) parts.push_back("?");
  return "{" + joined(parts) + "}";
}

}  // namespace

std::string to_string(const AxisName& axis) {
  std::string text = written_name(axis.name);
  if (axis.sub) text += fmt::format(":({}){}", axis.sub->pre_size, axis.sub->size);
  return text;
}

std::string to_string(const Mesh& mesh, const AxisRef& axis) { return to_string(named(mesh, axis)); }

std::string to_string(const std::vector<Mesh>& meshes, const Sharding& sharding) {
  const Mesh none{unknown, {}, {}};
  const Mesh& mesh = sharding.mesh.index() < meshes.size() ? meshes[sharding.mesh.index()] : none;
  std::string text = written_name(mesh.name) + "[";
  for (std::size_t d = 0; d < sharding.dims.size(); ++d) {
    const DimSharding& dim = sharding.dims[d];
    if (d) text += ", ";
    text += braces(mesh, dim.axes, dim.open);
    if (dim.priority) text += fmt::format("p{}", *dim.priority);
  }
  if (!sharding.replicated.empty()) text += "; replicated " + braces(mesh, sharding.replicated, false);
  if (!sharding.unreduced.empty() || !sharding.unreduced_monoid.empty())
    text += "; unreduced " + braces(mesh, sharding.unreduced, false) + " by " + written_name(sharding.unreduced_monoid);
  return text + "]";
}

AxisName named(const Mesh& mesh, const AxisRef& axis) { return {name_of(mesh, axis.id), axis.sub}; }

std::optional<MeshId> find_mesh(const std::vector<Mesh>& meshes, const std::string& name) {
  for (std::size_t m = 0; m < meshes.size(); ++m)
    if (meshes[m].name == name) return MeshId(m);
  return std::nullopt;
}

std::optional<AxisId> find_axis(const Mesh& mesh, const std::string& name) {
  for (std::size_t a = 0; a < mesh.axes.size(); ++a)
    if (mesh.axes[a].name == name) return AxisId(a);
  return std::nullopt;
}

std::optional<MeshId> sole_mesh_with(const std::vector<Mesh>& meshes, const std::string& axis) {
  std::optional<MeshId> found;
  for (std::size_t m = 0; m < meshes.size(); ++m)
    for (const MeshAxis& own : meshes[m].axes) {
      if (own.name != axis) continue;
      if (found) return std::nullopt;
      found = MeshId(m);
    }
  return found;
}

}  // namespace tap::ir
