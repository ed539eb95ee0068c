// --mesh data=4,model=2: axes of a mesh and their sizes.
#pragma once

#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/shardings/sharding.h"
#include "support/diagnostic.h"

namespace tap::driver {

// Throws Failure, exit 2, for a text that is not AXIS=SIZE.
std::vector<ir::MeshAxis> parse_mesh_sizes(const std::vector<std::string>& texts);

// Changes the sizes of axes that the program's meshes have. Throws Failure, exit 2, for other axes, and for meshes with
// listed devices.
void resize_meshes(ir::Program& program, const std::vector<std::string>& texts);

}  // namespace tap::driver
