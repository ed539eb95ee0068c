// The exact box of every device for a sharded tensor.
//
//   mesh m = [x: 4]    10 cells as {x}: boxes 0..3, 3..6, 6..9, 9..10    9 cells: 0..3, 3..6, 6..9, 9..9
//
// A dim is split into ceil blocks, one for each position on all its axes together, major to minor (`Blocks` has the
// rule): flat, not axis by axis. A mesh without axes and devices does not constrain devices: the tensor is wherever
// it is used. One without axes but with a device (a maximal mesh) is that device alone.
#pragma once

#include <optional>
#include <vector>

#include "ir/box.h"
#include "ir/shardings/axis_algebra.h"

namespace tap::ir {

bool is_maximal(const Mesh& mesh);                         // one device, by its id
bool same_devices_in_order(const Mesh& a, const Mesh& b);  // regardless of their axes

// The cells of the tensor that the device at this position holds.
Box box_at(const Mesh& mesh, const Sharding& sharding, const Shape& shape, std::int64_t index);
Shape local_shape(const Mesh& mesh, const Sharding& sharding, const Shape& shape);  // of the largest box

// The ids of the devices that hold all of a box, in ascending order.
std::vector<std::int64_t> holders(const Mesh& mesh, const Sharding& sharding, const Shape& shape, const Box& box);

// Whether both place the same cells on every device, for a tensor of any shape: dims are split by the same digits of
// the devices' order. Ignores axes of size 1, names of axes, openness, replicated axes and priorities.
bool same_placement(const Mesh& mesh_a, const Sharding& a, const Mesh& mesh_b, const Sharding& b);

}  // namespace tap::ir
