// Meshes and shardings as declared and stored; axis_algebra.h computes with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::ir {

struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
  bool operator==(const MeshAxis&) const = default;
};
struct Mesh {
  std::string name;
  std::vector<MeshAxis> axes;
  std::vector<std::int64_t> devices;  // empty: 0, 1, 2, … in order

  const MeshAxis& operator[](AxisId id) const { return axes[id.index()]; }
  bool operator==(const Mesh&) const = default;
};

struct SubAxis {
  std::int64_t pre_size = 1;
  std::int64_t size = 1;
  bool operator==(const SubAxis&) const = default;
};
struct AxisRef {
  AxisId id;
  std::optional<SubAxis> sub;  // none: the full axis
  bool operator==(const AxisRef&) const = default;
};
struct DimSharding {
  std::vector<AxisRef> axes;  // major to minor
  bool open = false;
  std::optional<std::int64_t> priority;
  bool operator==(const DimSharding&) const = default;
};
struct Sharding {
  MeshId mesh;
  std::vector<DimSharding> dims;
  std::vector<AxisRef> replicated;
  std::vector<AxisRef> unreduced;
  std::string unreduced_monoid;  // empty if `unreduced` is
  bool operator==(const Sharding&) const = default;
};

// The faults in the form of a sharding on its mesh, one sentence each: unknown axes, sub-axes that are not part of
// their axis, overlapping or incompatible axes, neighbours that must be merged, a priority on an empty closed dim.
std::vector<std::string> faults_of(const Sharding& sharding, const Mesh& mesh);

// The direction in which a barrier stops the propagation of shardings.
enum class BarrierKind : std::uint8_t { forward, backward, both };

}  // namespace tap::ir
