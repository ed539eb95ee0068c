// A sharding over one mesh, as one over another view of the same devices in the same order.
//
//   [x: 4], dims [{x}, {}]       on [a: 2, b: 2]: [{a, b}, {}]
#pragma once

#include <optional>

#include "ir/shardings/sharding.h"

namespace tap::ir {

// Nothing if the devices or their order differ, or if an axis is not a product of whole axes of the other mesh: x of [x: 2, y: 4]
// is none on [z: 8].
std::optional<Sharding> on_other_mesh(const Sharding& sharding, const Mesh& from, MeshId to, const Mesh& other);

}  // namespace tap::ir
