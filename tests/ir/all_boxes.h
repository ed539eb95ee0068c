// The box of a tensor on each device of a mesh.
#pragma once

#include <vector>

#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"

namespace tap::ir {

inline std::vector<Box> all_boxes(const Mesh& mesh, const Sharding& sharding, const Shape& shape) {  // by place
  std::vector<Box> boxes;
  for (std::int64_t place = 0; place < device_count(mesh); ++place)
    boxes.push_back(box_at(mesh, sharding, shape, place));
  return boxes;
}

}  // namespace tap::ir
