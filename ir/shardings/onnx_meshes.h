// Converts between shards on sets of devices and shardings on meshes.
//
//   2 shards on {0, 1}, {2, 3}    d[{d:(1)2}]  on mesh d = [d: 4]
//   2 shards on {0, 2}, {1, 3}    d[{d:(2)2}]
//   2 shards on {3, 0}, {1, 2}    d2[{d:(1)2}] on mesh d2 = [d: 4] devices [0, 3, 1, 2]
//
// Every sharding without partial sums corresponds to shards on sets of devices. The converse needs contiguous blocks,
// each device in one shard, equally many devices per shard, and all devices 0 to n - 1 (or a single one).
#pragma once

#include "ir/operator.h"
#include "ir/shardings/onnx_spec.h"
#include "ir/shardings/sharding.h"

namespace tap::ir::onnx {

// A sharding that puts the same blocks on the same devices. Adds missing meshes: one with all devices in order, whose
// sub-axes are used, and one for each other device order. Pre: not anywhere.
std::variant<Sharding, Broken> sharding_of(const Placed& placed, const Shape& shape, std::vector<Mesh>& meshes);

std::variant<Placed, Broken> placed_of(const Mesh& mesh, const Sharding& sharding, const Shape& shape);

}  // namespace tap::ir::onnx
