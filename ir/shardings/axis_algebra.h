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

// One axis. Two different axes share nothing.
SubAxis digit(const Mesh& mesh, const AxisRef& axis);  // the full axis of size n is (1)n
AxisRef axis_of(const Mesh& mesh, AxisId id, SubAxis digit);
bool overlap(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
bool are_compatible(const Mesh& mesh, const AxisRef& a, const AxisRef& b);  // some one way to write the digits has both
bool contains(const Mesh& mesh, const AxisRef& whole, const AxisRef& part);
bool is_prefix(const Mesh& mesh, const AxisRef& prefix, const AxisRef& axis);  // the axis itself is one of its prefixes
std::optional<AxisRef> common_prefix(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
std::optional<AxisRef> shared(const Mesh& mesh, const AxisRef& a,
                              const AxisRef& b);  // what both have; they fit together
// The largest prefix of `axis` that shares nothing with `other` and fits together with it.
std::optional<AxisRef> prefix_without(const Mesh& mesh, const AxisRef& axis, const AxisRef& other);
// What is left of `axis` when `other` is taken out, major to minor: nothing, one or two parts. They fit together.
Axes without(const Mesh& mesh, const AxisRef& axis, const AxisRef& other);
// If `b` is right below `a`, the axis that both are.
std::optional<AxisRef> merged(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
// By the order of axes in the mesh, then by pre-size, then by size.
bool comes_before(const Mesh& mesh, const AxisRef& a, const AxisRef& b);

// Lists, major to minor, in which nothing overlaps.
std::int64_t size_of(const Mesh& mesh, const Axes& axes);        // the product; throws Overflow
void append(const Mesh& mesh, Axes& axes, const AxisRef& axis);  // merges with the last where it can
Axes joined(const Mesh& mesh, const Axes& major, const Axes& minor);
Axes merged(const Mesh& mesh, const Axes& axes);  // neighbours merged: as few and as big as possible
bool overlap(const Mesh& mesh, const Axes& a, const Axes& b);
bool is_prefix(const Mesh& mesh, const Axes& prefix, const Axes& axes);  // {a, b:(1)2} of {a, b, c}
Axes common_prefix(const Mesh& mesh, const Axes& a, const Axes& b);
// The longest prefix that shares nothing with any of `others`, and fits together with them.
Axes prefix_without(const Mesh& mesh, const Axes& axes, const Axes& others);
// What stands behind a prefix: {a, b} behind {a:(1)2} is {a:(2)2, b}.
Axes behind(const Mesh& mesh, const Axes& prefix, const Axes& axes);
// The axes, in their order, without what any of `others` has.
Axes without(const Mesh& mesh, const Axes& axes, const Axes& others);
// A prefix of this many places and what stands behind it; nothing where an axis would have to be cut unevenly.
struct CutAxes {
  Axes major;
  Axes minor;
  bool operator==(const CutAxes&) const = default;
};
std::optional<CutAxes> cut_at(const Mesh& mesh, const Axes& axes, std::int64_t places);
// As a set: in the order of the mesh, neighbours merged.
Axes in_mesh_order(const Mesh& mesh, Axes axes);

// The one form of shardings that differ in writing only: neighbours merged, replicated and unreduced axes in mesh order.
Sharding canonical(const Mesh& mesh, Sharding sharding);
// Only which axes cut which dims, canonically: nothing of openness, priorities or explicit replication.
Sharding bare(const Mesh& mesh, const Sharding& sharding);
// All axes that the sharding uses: of dims, then replicated and unreduced ones.
Axes used_axes(const Sharding& sharding);

}  // namespace tap::ir
