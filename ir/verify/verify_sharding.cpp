#include <algorithm>
#include <set>
#include <span>

#include "ir/graph.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "ir/verify/verify_parts.h"
#include "support/checked.h"

namespace tap::ir::verifying {
namespace {

void verify_devices(Violations& out, const Mesh& mesh, std::int64_t count) {
  if (mesh.devices.empty()) return;
  if (!out.expect(static_cast<std::int64_t>(mesh.devices.size()) == count, "{} devices for {} positions",
                  mesh.devices.size(), count))
    return;
  if (is_maximal(mesh)) {  // any one device
    out.expect(mesh.devices[0] >= 0 && mesh.devices[0] < most_devices, "the device {}", mesh.devices[0]);
    return;
  }
  std::vector<std::int64_t> sorted = mesh.devices;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t d = 0; d < count; ++d)
    if (!out.expect(sorted[d] == d, "the devices are not a permutation of 0..{}", count)) return;
}

}  // namespace

void verify_meshes(Violations& out, const Program& program) {
  std::set<std::string> meshes;
  bool all_counted = true;  // only then have all meshes so far a number of devices, by which they are compared
  for (const Mesh& mesh : program.meshes) {
    Violations::Scope at(out, "mesh {}", mesh.name);
    out.expect(meshes.insert(mesh.name).second, "the name is declared twice");
    std::set<std::string> axes;
    std::int64_t count = 1;
    bool sizes = true;
    for (const MeshAxis& axis : mesh.axes) {
      out.expect(axes.insert(axis.name).second, "the axis {} occurs twice", axis.name);
      sizes &= out.expect(axis.size >= 1, "the axis {} has size {}", axis.name, axis.size) &&
               out.expect(axis.size <= most_devices / count, "it has more than {} devices", most_devices);
      if (sizes) count *= axis.size;
    }
    all_counted &= sizes;
    if (!sizes) continue;
    verify_devices(out, mesh, count);
    if (!all_counted) continue;
    const std::span before(program.meshes.data(), &mesh);
    if (const Mesh* other = with_other_devices(before, mesh))
      out.expect(false, "it has {}, and the mesh {} has {}", devices_in_words(mesh), other->name,
                 devices_in_words(*other));
  }
}

void verify_sharding(Violations& out, const Program& program, const Sharding& sharding, std::size_t rank) {
  out.expect(sharding.dims.size() == rank, "a sharding of {} dims for rank {}", sharding.dims.size(), rank);
  if (!out.expect(valid(sharding.mesh, program.meshes), "the mesh {} is not declared", sharding.mesh.index())) return;
  for (const std::string& fault : faults_of(sharding, program[sharding.mesh])) out.expect(false, "{}", fault);
}

}  // namespace tap::ir::verifying
