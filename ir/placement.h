// Where the blocks of an operation go: on a mesh axis, on devices, on threads, or one after another.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/shardings/sharding.h"

namespace tap::ir {

enum class Placement : std::uint8_t { unspecified, threads, sequential, mesh_axis, devices };
using DeviceSets = std::vector<std::vector<std::int64_t>>;  // by block: the devices that have it, ascending
inline constexpr std::uint32_t whole_operation = ~std::uint32_t{0};
// Where the blocks of a block dim go. Without a dim the whole operation is the block with number `number`: it runs only
// where that block goes.
struct BlockPlacement {
  std::uint32_t dim = 0;
  Placement placement = Placement::unspecified;
  MeshId mesh = {};                  // with mesh_axis
  std::optional<AxisRef> axis = {};  // likewise
  DeviceSets devices = {};           // with devices
  std::int64_t number = 0;           // with whole_operation
  bool operator==(const BlockPlacement&) const = default;
};
// Whether it assigns devices. Different blocks of such a placement are on different devices.
inline bool on_devices(const BlockPlacement& p) { return p.axis.has_value() || p.placement == Placement::devices; }

}  // namespace tap::ir
