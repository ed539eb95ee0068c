// Collectives: the steps that reshard a tensor from one sharding to another.
//
//   pod[{x}, {}] → pod[{}, {y}]        all_slice [{}, {y}] → pod[{x}, {y}]        0 elements
//                                      all_gather [{x}, {}] → pod[{}, {y}]        12 elements
//
// Each step is a value that contains the sharding before and after it. It moves data only within groups of devices
// that differ in the step's axes alone; where no collective fits (sizes that do not divide, so that a group lacks
// cells that it needs; meshes with nothing in common; a single device), boxes are copied from the devices that hold
// them.
#pragma once

#include <string>
#include <vector>

#include "ir/box.h"
#include "ir/shardings/axis_algebra.h"

namespace tap::passes {

enum class CollectiveKind : std::uint8_t {
  all_slice,           // each device keeps a part of what it has: no data moves
  collective_permute,  // each device takes the whole box of one device
  all_to_all,          // axes move from one dim to the minor end of another
  all_gather,          // minor axes of dims are removed
  all_reduce,          // partials are combined, and each device has the result
  reduce_scatter,      // partials are combined, and each device has a part of the result
  to_partial,          // the first device of each group keeps its values, others take the identity: no data moves
  copy,                // boxes from the devices that hold them
};
std::string_view name(CollectiveKind kind);

struct Collective {
  CollectiveKind kind = CollectiveKind::copy;
  std::vector<ir::Axes> axes = {};  // per dim: sliced, gathered or scattered ones
  ir::Axes over = {};               // axes moved by an all-to-all, reduced axes, or those of to_partial
  std::uint32_t from_dim = 0;       // for an all-to-all
  std::uint32_t to_dim = 0;
  ir::Sharding before = {};
  ir::Sharding after = {};
  std::int64_t moved = 0;  // elements that the busiest device receives
  bool operator==(const Collective&) const = default;
};
// all_to_all {y, z} from dim 2 to dim 1 -> pod[{x}, {y, z}, {}]
std::string to_string(const std::vector<ir::Mesh>& meshes, const Collective& step);

// A tensor's sharding and the mesh that it names.
struct OnMesh {
  const ir::Mesh& mesh;
  const ir::Sharding& sharding;
};

// The steps from one sharding to the other; none if every device has what it needs. Both meshes have the same set of
// devices; steps between meshes use the axes of the first mesh, except for the last step.
std::vector<Collective> reshard(const OnMesh& from, const OnMesh& to, const Shape& shape);

// Elements that the busiest device receives. Uneven boxes are counted as the largest one; copies are exact.
std::int64_t elements_moved(const Collective& step, const OnMesh& before, const OnMesh& after, const Shape& shape);

}  // namespace tap::passes
