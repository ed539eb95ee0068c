// Where the blocks of an operation go: on a mesh axis, on devices, on threads, or one after another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/shardings/sharding.h"

namespace tap::ir {

enum class Placement : std::uint8_t { unspecified, threads, sequential, mesh_axis, devices };
using DeviceSets = std::vector<std::vector<std::int64_t>>;  // by block, who has it, in ascending order
inline constexpr std::uint32_t whole_operation = ~std::uint32_t{0};
// Where the blocks go that a block dim of an operation numbers. Without a dim all of the operation is one block, of that
// number: it runs where that block goes, and nowhere else.
struct BlockPlacement {
  std::uint32_t dim = 0;
  Placement placement = Placement::unspecified;
  std::string mesh = {};             // with mesh_axis
  std::optional<AxisRef> axis = {};  // likewise
  DeviceSets devices = {};           // with devices
  std::int64_t number = 0;           // with whole_operation
  bool operator==(const BlockPlacement&) const = default;
};
// Whether it says which devices run what: of two such placements those are apart that have other blocks.
inline bool on_devices(const BlockPlacement& p) { return p.axis.has_value() || p.placement == Placement::devices; }

}  // namespace tap::ir
