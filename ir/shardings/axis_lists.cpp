// The axis algebra for lists of axes and whole shardings.
#include <algorithm>

#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_position.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::ir {

std::int64_t size_of(const Mesh& mesh, const Axes& axes) {
  std::int64_t product = 1;
  for (const AxisRef& axis : axes) product = checked::mul(product, size_of(mesh, axis));
  return product;
}

void append(const Mesh& mesh, Axes& axes, const AxisRef& axis) {
  auto both = axes.empty() ? std::nullopt : merged(mesh, axes.back(), axis);
  if (both) axes.back() = *both;
  else axes.push_back(axis);
}

Axes joined(const Mesh& mesh, const Axes& major, const Axes& minor) {
  Axes all = major;
  for (const AxisRef& axis : minor) append(mesh, all, axis);
  return all;
}

Axes merged(const Mesh& mesh, const Axes& axes) { return joined(mesh, {}, axes); }

bool overlap(const Mesh& mesh, const Axes& a, const Axes& b) {
  for (const AxisRef& x : a)
    for (const AxisRef& y : b)
      if (overlap(mesh, x, y)) return true;
  return false;
}

Axes common_prefix(const Mesh& mesh, const Axes& a, const Axes& b) {
  Axes prefix;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    auto common = common_prefix(mesh, a[k], b[k]);
    if (!common) break;
    prefix.push_back(*common);
    if (a[k] != b[k]) break;
  }
  return prefix;
}

bool is_prefix(const Mesh& mesh, const Axes& prefix, const Axes& axes) {
  return common_prefix(mesh, prefix, axes) == prefix;
}

Axes prefix_without(const Mesh& mesh, const Axes& axes, const Axes& others) {
  Axes prefix;
  for (const AxisRef& axis : axes) {
    std::optional<AxisRef> left = axis;
    for (const AxisRef& other : others)
      if (left) left = prefix_without(mesh, *left, other);
    if (left) prefix.push_back(*left);
    if (left != axis) break;
  }
  return prefix;
}

Axes suffix_after(const Mesh& mesh, const Axes& prefix, const Axes& axes) {
  TAP_CHECK(is_prefix(mesh, prefix, axes), "only a prefix can be removed from a list of axes");
  Axes rest;
  for (std::size_t k = prefix.empty() ? 0 : prefix.size() - 1; k < axes.size(); ++k) {
    if (k >= prefix.size()) rest.push_back(axes[k]);
    else
      for (const AxisRef& left : without(mesh, axes[k], prefix[k])) rest.push_back(left);
  }
  return rest;
}

Axes without(const Mesh& mesh, const Axes& axes, const Axes& others) {
  Axes left = axes;
  for (const AxisRef& other : others) {
    Axes next;
    for (const AxisRef& axis : left)
      for (const AxisRef& part : without(mesh, axis, other)) next.push_back(part);
    left = std::move(next);
  }
  return left;
}

std::optional<SplitAxes> split_at(const Mesh& mesh, const Axes& axes, std::int64_t size) {
  SplitAxes parts;
  for (const AxisRef& axis : axes) {
    SubAxis d = digit(mesh, axis);
    if (size == 1) {
      parts.minor.push_back(axis);
    } else if (size % d.size == 0) {
      parts.major.push_back(axis);
      size /= d.size;
    } else {
      if (d.size % size != 0) return std::nullopt;
      parts.major.push_back(axis_of(mesh, axis.id, {d.pre_size, size}));
      parts.minor.push_back(axis_of(mesh, axis.id, {d.pre_size * size, d.size / size}));
      size = 1;
    }
  }
  return size == 1 ? std::optional(std::move(parts)) : std::nullopt;
}

Axes in_mesh_order(const Mesh& mesh, Axes axes) {
  std::sort(axes.begin(), axes.end(), [&](auto& a, auto& b) { return comes_before(mesh, a, b); });
  return merged(mesh, axes);
}

Sharding canonical(const Mesh& mesh, Sharding sharding) {
  for (DimSharding& dim : sharding.dims) dim.axes = merged(mesh, dim.axes);
  sharding.replicated = in_mesh_order(mesh, std::move(sharding.replicated));
  sharding.unreduced = in_mesh_order(mesh, std::move(sharding.unreduced));
  return sharding;
}

Sharding bare(const Mesh& mesh, const Sharding& sharding) {
  Sharding result = canonical(mesh, sharding);
  for (DimSharding& dim : result.dims) dim = {dim.axes, false, {}};
  result.replicated.clear();
  return result;
}

Axes used_axes(const Sharding& sharding) {
  Axes all;
  for (const DimSharding& dim : sharding.dims) all.insert(all.end(), dim.axes.begin(), dim.axes.end());
  all.insert(all.end(), sharding.replicated.begin(), sharding.replicated.end());
  all.insert(all.end(), sharding.unreduced.begin(), sharding.unreduced.end());
  return all;
}

}  // namespace tap::ir
