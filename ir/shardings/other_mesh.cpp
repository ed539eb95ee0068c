#include "ir/shardings/other_mesh.h"

#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_position.h"

namespace tap::ir {
namespace {

bool have_one_order(const Mesh& a, const Mesh& b) {
  const std::int64_t count = device_count(a);
  if (device_count(b) != count) return false;
  if (a.devices.empty() && b.devices.empty()) return true;
  for (std::int64_t k = 0; k < count; ++k)
    if (device_at(a, k) != device_at(b, k)) return false;
  return true;
}

// Positions are numbers of mixed radix: an axis is the digits from `major` up to `major * size`, counted from the major end.
std::optional<Axes> in_whole_axes(const Mesh& mesh, std::int64_t major, std::int64_t size) {
  Axes axes;
  std::int64_t before = 1;
  for (std::size_t a = 0; a < mesh.axes.size() && size > 1; before *= mesh.axes[a++].size) {
    const std::int64_t own = mesh.axes[a].size;
    if (own == 1 || before < major) continue;
    if (before != major || size % own != 0) return std::nullopt;
    axes.push_back({AxisId(a), {}});
    major *= own;
    size /= own;
  }
  return size == 1 ? std::optional(axes) : std::nullopt;
}

}  // namespace

std::optional<Sharding> on_other_mesh(const Sharding& sharding, const Mesh& from, MeshId to, const Mesh& other) {
  if (!have_one_order(from, other)) return std::nullopt;
  Sharding out = sharding;
  out.mesh = to;
  auto translate = [&](Axes& axes) {
    Axes own;
    for (const AxisRef& axis : axes) {
      std::int64_t major = 1;
      for (std::size_t a = 0; a < axis.id.index(); ++a) major *= from.axes[a].size;
      if (axis.sub) major *= axis.sub->pre_size;
      const std::optional<Axes> same = in_whole_axes(other, major, size_of(from, axis));
      if (!same) return false;
      own.insert(own.end(), same->begin(), same->end());
    }
    axes = std::move(own);
    return true;
  };
  for (DimSharding& dim : out.dims)
    if (!translate(dim.axes)) return std::nullopt;
  if (!translate(out.replicated) || !translate(out.unreduced)) return std::nullopt;
  if (out.unreduced.empty()) out.unreduced_monoid.clear();
  return out;
}

}  // namespace tap::ir
