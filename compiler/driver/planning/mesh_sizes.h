// --mesh data=4,model=2: axes of a mesh and their sizes.
#pragma once

#include <string>
#include <vector>

#include "cost/machine/device.h"
#include "ir/graph_ids.h"
#include "ir/shardings/sharding.h"
#include "support/diagnostic.h"

namespace tap::driver {

// Throws Failure, exit 2, for a text that is not AXIS=SIZE.
std::vector<ir::MeshAxis> parse_mesh_sizes(const std::vector<std::string>& texts);

// Changes the sizes of axes that the program's meshes have. Throws Failure, exit 2, for other axes, and for meshes with
// listed devices.
void resize_meshes(ir::Program& program, const std::vector<std::string>& texts);

// Throws Failure, exit 4, if the machine has fewer devices than the mesh. The built-in model, and machine files that describe one
// device, have as many as the mesh needs.
void require_devices(const cost::Cluster& cluster, std::int64_t devices);

}  // namespace tap::driver
