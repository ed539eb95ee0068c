// The required form of a sharding on its mesh, following the invariants of Shardy's representation.
#include <algorithm>

#include <fmt/format.h>

#include "ir/shardings/mesh_names.h"

namespace tap::ir {
namespace {

struct Faults {
  const Mesh& mesh;
  std::vector<std::string> found;

  // The axis as a sub-axis; nothing if it is invalid.
  std::optional<SubAxis> resolve(const AxisRef& axis) {
    if (axis.id.index() >= mesh.axes.size()) {
      found.push_back(fmt::format("the mesh {} has no axis {}", mesh.name, axis.id.index()));
      return std::nullopt;
    }
    const MeshAxis& full = mesh[axis.id];
    if (!axis.sub) return SubAxis{1, full.size};
    auto [pre, size] = *axis.sub;
    std::int64_t product = 0;
    bool part = pre >= 1 && size >= 2 && !__builtin_mul_overflow(pre, size, &product) && full.size % product == 0;
    if (!part) {
      found.push_back(fmt::format("{} is not part of an axis of size {}", to_string(mesh, axis), full.size));
      return std::nullopt;
    }
    if (size == full.size) {
      found.push_back(fmt::format("{} is the whole axis; write {}", to_string(mesh, axis), full.name));
      return std::nullopt;
    }
    return axis.sub;
  }

  // Disjoint and compatible: (1)2 and (3)2 of 6 are disjoint, but no mixed radix has both.
  static bool coexist(SubAxis a, SubAxis b) {
    if (a.pre_size > b.pre_size) std::swap(a, b);
    return a.pre_size != b.pre_size && b.pre_size % (a.pre_size * a.size) == 0;
  }

  void pairwise(const std::vector<AxisRef>& all) {
    std::vector<std::optional<SubAxis>> resolved;
    for (const AxisRef& axis : all) resolved.push_back(resolve(axis));
    for (std::size_t b = 0; b < all.size(); ++b)
      for (std::size_t a = 0; a < b; ++a) {
        if (all[a].id != all[b].id || !resolved[a] || !resolved[b]) continue;
        bool fit = all[a].sub && all[b].sub && coexist(*resolved[a], *resolved[b]);
        if (!fit)
          found.push_back(fmt::format("{} and {} cannot occur in the same sharding", to_string(mesh, all[a]),
                                      to_string(mesh, all[b])));
      }
  }

  // (2)2 followed by (4)4 is one sub-axis, (2)8.
  void mergeable(const std::vector<AxisRef>& axes) {
    for (std::size_t k = 1; k < axes.size(); ++k) {
      const AxisRef &a = axes[k - 1], &b = axes[k];
      std::int64_t end = 0;
      if (a.id != b.id || !a.sub || !b.sub || __builtin_mul_overflow(a.sub->pre_size, a.sub->size, &end)) continue;
      if (end == b.sub->pre_size)
        found.push_back(fmt::format("{} and {} must be merged", to_string(mesh, a), to_string(mesh, b)));
    }
  }
};

}  // namespace

std::vector<std::string> faults_of(const Sharding& sharding, const Mesh& mesh) {
  Faults faults{mesh, {}};
  std::vector<AxisRef> all;
  for (const DimSharding& dim : sharding.dims) {
    all.insert(all.end(), dim.axes.begin(), dim.axes.end());
    faults.mergeable(dim.axes);
    if (!dim.priority) continue;
    if (*dim.priority < 0) faults.found.push_back(fmt::format("the priority {} is negative", *dim.priority));
    if (dim.axes.empty() && !dim.open) faults.found.push_back("an empty closed dim has a priority");
  }
  for (const auto* list : {&sharding.replicated, &sharding.unreduced}) {
    all.insert(all.end(), list->begin(), list->end());
    faults.mergeable(*list);
  }
  faults.pairwise(all);
  if (sharding.unreduced.empty() != sharding.unreduced_monoid.empty())
    faults.found.push_back("`unreduced` needs both axes and a monoid, as in `unreduced {x} by sum`");
  return std::move(faults.found);
}

}  // namespace tap::ir
