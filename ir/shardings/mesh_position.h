// Devices of a mesh and their positions.
//
//   mesh [x: 2, y: 4, z: 2]: the device at position 3 has coordinates (0, 1, 1)
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "ir/shardings/sharding.h"

namespace tap::ir {

std::int64_t device_count(const Mesh& mesh);
std::int64_t device_at(const Mesh& mesh, std::int64_t index);                 // its id
std::int64_t index_in_mesh(const Mesh& mesh, std::int64_t device);            // -1: not in the mesh
std::vector<std::int64_t> position_of(const Mesh& mesh, std::int64_t index);  // a coordinate per axis
// The coordinate along an axis or a sub-axis: along y:(2)2 of y = 8, positions 0…7 have 0, 0, 1, 1, 0, 0, 1, 1.
std::int64_t coordinate(const Mesh& mesh, const std::vector<std::int64_t>& position, const AxisRef& axis);
std::int64_t size_of(const Mesh& mesh, const AxisRef& axis);

// All meshes of a program are views of one set of devices; a mesh without axes is one of these.
bool have_one_set(const Mesh& a, const Mesh& b);
const Mesh* with_other_devices(std::span<const Mesh> meshes, const Mesh& mesh);  // null: none
std::string devices_in_words(const Mesh& mesh);                                  // "the devices 0 to 3"

}  // namespace tap::ir
