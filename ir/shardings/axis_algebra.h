// The algebra of axes and sub-axes, as plain values on a mesh.
//
// The position of a device on an axis of size n is a number with mixed-radix digits, major to minor. The sub-axis
// y:(m)k is the digit of radix k with m values above it; a full axis is the digit y:(1)n, written y.
//
//   y = 12:   y:(1)2 and y:(2)3 are adjacent and merge to y:(1)6
//             y:(1)4 and y:(2)3 overlap in y:(2)2
//             y:(1)2 and y:(3)2 are disjoint, but no single radix has both as digits
//
// All arguments must be axes of the mesh with legal sub-axes (`faults_of` reports others). Results are normalised: a
// sub-axis that is its whole axis is written as the axis.
#pragma once

#include <optional>
#include <vector>

#include "ir/shardings/sharding.h"

namespace tap::ir {

using Axes = std::vector<AxisRef>;  // major to minor

// One axis. Axes of different names are disjoint.
SubAxis digit(const Mesh& mesh, const AxisRef& axis);  // the full axis of size n is (1)n
AxisRef axis_of(const Mesh& mesh, AxisId id, SubAxis digit);
bool overlap(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
bool are_compatible(const Mesh& mesh, const AxisRef& a, const AxisRef& b);  // some mixed radix has both as digits
bool contains(const Mesh& mesh, const AxisRef& whole, const AxisRef& part);
bool is_prefix(const Mesh& mesh, const AxisRef& prefix, const AxisRef& axis);  // the axis itself is one of its prefixes
std::optional<AxisRef> common_prefix(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
std::optional<AxisRef> shared(const Mesh& mesh, const AxisRef& a,
                              const AxisRef& b);  // their common part; they are compatible
// The largest prefix of `axis` that is disjoint from `other` and compatible with it.
std::optional<AxisRef> prefix_without(const Mesh& mesh, const AxisRef& axis, const AxisRef& other);
// `axis` without `other`, major to minor: nothing, or one or two compatible parts.
Axes without(const Mesh& mesh, const AxisRef& axis, const AxisRef& other);
// If `b` is directly below `a`: the axis that they form.
std::optional<AxisRef> merged(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
// By the order of axes in the mesh, then by pre-size, then by size.
bool comes_before(const Mesh& mesh, const AxisRef& a, const AxisRef& b);

// Lists, major to minor, without overlaps.
std::int64_t size_of(const Mesh& mesh, const Axes& axes);        // the product; throws Overflow
void append(const Mesh& mesh, Axes& axes, const AxisRef& axis);  // merges with the last one if possible
Axes joined(const Mesh& mesh, const Axes& major, const Axes& minor);
Axes merged(const Mesh& mesh, const Axes& axes);  // neighbours merged: as few and as large axes as possible
bool overlap(const Mesh& mesh, const Axes& a, const Axes& b);
bool is_prefix(const Mesh& mesh, const Axes& prefix, const Axes& axes);  // {a, b:(1)2} of {a, b, c}
Axes common_prefix(const Mesh& mesh, const Axes& a, const Axes& b);
// The longest prefix that is disjoint from all `others`, and compatible with them.
Axes prefix_without(const Mesh& mesh, const Axes& axes, const Axes& others);
// What follows a prefix: {a, b} after {a:(1)2} is {a:(2)2, b}.
Axes suffix_after(const Mesh& mesh, const Axes& prefix, const Axes& axes);
// The axes, in their order, without any part of `others`.
Axes without(const Mesh& mesh, const Axes& axes, const Axes& others);
// A prefix of this many positions and what follows it; nothing if an axis would have to be split unevenly.
struct SplitAxes {
  Axes major;
  Axes minor;
  bool operator==(const SplitAxes&) const = default;
};
std::optional<SplitAxes> split_at(const Mesh& mesh, const Axes& axes, std::int64_t size);
// As a set: in the order of the mesh, neighbours merged.
Axes in_mesh_order(const Mesh& mesh, Axes axes);

// The canonical form of equivalent shardings: neighbours merged, replicated and unreduced axes in mesh order.
Sharding canonical(const Mesh& mesh, Sharding sharding);
// Only which axes shard which dims, canonically: without openness, priorities and explicit replication.
Sharding bare(const Mesh& mesh, const Sharding& sharding);
// All axes that the sharding uses: those of dims, then replicated and unreduced ones.
Axes used_axes(const Sharding& sharding);

}  // namespace tap::ir
