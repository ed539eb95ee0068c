// The box of a tensor on each device of a mesh.
#pragma once

#include <vector>

#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"

namespace tap::ir {

inline std::vector<Box> all_boxes(const Mesh& mesh, const Sharding& sharding, const Shape& shape) {  // by place
  std::vector<Box> boxes;
  for (std::int64_t index = 0; index < device_count(mesh); ++index)
    boxes.push_back(box_at(mesh, sharding, shape, index));
  return boxes;
}

}  // namespace tap::ir
