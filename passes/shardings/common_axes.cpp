#include "passes/shardings/common_axes.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ir/shardings/mesh_position.h"
#include "passes/shardings/axis_conflicts.h"

namespace tap::passes {

using namespace ir;

namespace {

// The longest prefix whose size divides the points.
Axes even_prefix(const Mesh& mesh, const Axes& axes, std::int64_t points) {
  Axes prefix;
  for (const AxisRef& axis : axes) {
    SubAxis d = digit(mesh, axis);
    std::int64_t part = points == 0 ? 1 : std::gcd(points, d.size);
    if (part > 1) append(mesh, prefix, axis_of(mesh, axis.id, {d.pre_size, part}));
    if (part != d.size) break;
    points /= part;
  }
  return prefix;
}

class Chooser {
 public:
  Chooser(const Mesh& mesh, const Factors& factors, const std::vector<FactoredTensor>& tensors)
      : mesh_(mesh), factors_(factors), tensors_(tensors) {
    for (const FactoredTensor& tensor : tensors)
      if (!tensor.scalar()) large_.push_back(&tensor);
  }

  std::vector<Axes> choose() const {
    if (large_.size() == 2 && has_overflow()) return aligned();
    if (auto agreed = agreement()) return *agreed;
    if (large_.size() == 2 && !any_needs_replication() && !any_compound()) return follow_one();
    return reassign_unsplittable(AxisContest(mesh_, factors_, tensors_).run());
  }

 private:
  FactorKind kind(std::uint32_t f) const { return factors_.factors[f].kind; }

  bool has_overflow() const {
    for (const FactoredTensor* tensor : large_)
      for (const FactorAxes& f : tensor->axes.factors)
        if (!f.overflow.empty()) return true;
    return false;
  }
  bool any_needs_replication() const {
    return std::any_of(factors_.factors.begin(), factors_.factors.end(),
                       [](const Factor& f) { return f.kind == FactorKind::need_replication; });
  }
  bool any_compound() const {
    for (const FactoredTensor* tensor : large_)
      for (const AxisFactors& axis : tensor->factors->axes)
        if (axis.factors.size() > 1) return true;
    return false;
  }

  // The axes of every factor if all tensors agree and nothing conflicts.
  std::optional<std::vector<Axes>> agreement() const {
    std::vector<Axes> common(factors_.factors.size());
    std::vector<bool> seen(common.size());
    for (const FactoredTensor& tensor : tensors_)
      for (const FactorAxes& f : tensor.axes.factors) {
        if (seen[f.factor] && common[f.factor] != f.axes) return std::nullopt;
        common[f.factor] = f.axes;
        seen[f.factor] = true;
      }
    for (std::uint32_t f = 0; f < common.size(); ++f) {
      if (kind(f) == FactorKind::need_replication && !common[f].empty()) return std::nullopt;
      for (std::uint32_t g = 0; g < f; ++g)
        if (overlap(mesh_, common[f], common[g])) return std::nullopt;
    }
    return common;
  }

  // Of two tensors: the one whose cells stay in place; else the larger one, or the one with more shards.
  std::vector<Axes> follow_one() const {
    auto shards = [&](const FactoredTensor& tensor) {
      std::int64_t product = 1;
      for (const FactorAxes& f : tensor.axes.factors) product *= size_of(mesh_, f.axes) * size_of(mesh_, f.overflow);
      return product;
    };
    auto rank = [&](const FactoredTensor& tensor) {
      bool permuted = std::any_of(tensor.axes.factors.begin(), tensor.axes.factors.end(), [&](const FactorAxes& f) {
        return kind(f.factor) == FactorKind::permutation && !f.axes.empty();
      });
      return std::tuple(!permuted, tensor.cells, shards(tensor));
    };
    const FactoredTensor *one = large_[0], *other = large_[1];
    if (rank(*one) < rank(*other)) std::swap(one, other);
    std::vector<Axes> common(factors_.factors.size());
    Axes used;
    for (const FactorAxes& f : one->axes.factors) {
      common[f.factor] = prefix_without(mesh_, f.axes, used);
      used.insert(used.end(), f.axes.begin(), f.axes.end());
    }
    for (const FactorAxes& f : other->axes.factors)
      if (!one->axes.find(f.factor)) {
        common[f.factor] = prefix_without(mesh_, f.axes, used);
        used.insert(used.end(), f.axes.begin(), f.axes.end());
      }
    return common;
  }

  // Two tensors with axes that fit no factor: distributes all axes of the one with more shards anew on both sides, and
  // keeps the common prefix.
  std::vector<Axes> aligned() const {
    auto all_axes = [&](const FactoredTensor& tensor) {
      Axes all;
      for (std::uint32_t f = 0; f < factors_.factors.size(); ++f)
        if (const FactorAxes* found = tensor.axes.find(f)) {
          all.insert(all.end(), found->axes.begin(), found->axes.end());
          all.insert(all.end(), found->overflow.begin(), found->overflow.end());
        }
      return all;
    };
    Axes one = all_axes(*large_[0]), other = all_axes(*large_[1]);
    const Axes& axes = size_of(mesh_, one) >= size_of(mesh_, other) ? one : other;
    std::vector<Axes> common(factors_.factors.size());
    std::vector<bool> seen(common.size());
    for (const FactoredTensor* tensor : large_) {
      Sharding dealt = sharding_from(mesh_, MeshId(), factors_, *tensor->factors, dealt_out(*tensor->factors, axes));
      for (const FactorAxes& f : axes_by_factor(mesh_, factors_, *tensor->factors, dealt).factors) {
        common[f.factor] = seen[f.factor] ? common_prefix(mesh_, common[f.factor], f.axes) : f.axes;
        seen[f.factor] = true;
      }
    }
    return common;
  }

  // Assigns each axis, or the part of it that divides evenly, to the tensor's first factor with room.
  TensorAxes dealt_out(const TensorFactors& tensor, const Axes& axes) const {
    TensorAxes out = axes_by_factor(mesh_, factors_, tensor, std::nullopt);
    std::vector<std::int64_t> room;
    for (const FactorAxes& f : out.factors) room.push_back(factors_.factors[f.factor].size);
    for (const AxisRef& axis : axes) {
      SubAxis rest = digit(mesh_, axis);
      for (std::size_t k = 0; k < room.size() && rest.size > 1; ++k) {
        std::int64_t part = std::gcd(std::max<std::int64_t>(room[k], 1), rest.size);
        if (part == 1) continue;
        append(mesh_, out.factors[k].axes, axis_of(mesh_, axis.id, {rest.pre_size, part}));
        rest = {rest.pre_size * part, rest.size / part};
        room[k] /= part;
      }
      if (rest.size > 1) break;
    }
    return out;
  }

  // Moves axes of factors that must not be split to factors that all tensors have, if they divide them.
  std::vector<Axes> reassign_unsplittable(std::vector<Axes> common) const {
    for (std::uint32_t f = 0; f < common.size(); ++f) {
      if (kind(f) != FactorKind::need_replication) continue;
      Axes unassigned = std::move(common[f]);
      common[f].clear();
      if (!in_all_tensors(f)) continue;
      for (std::uint32_t g = 0; g < common.size(); ++g)
        if (kind(g) == FactorKind::pass_through && in_all_tensors(g))
          absorb(common[g], factors_.factors[g].size, unassigned);
    }
    return common;
  }
  void absorb(Axes& axes, std::int64_t points, Axes& unassigned) const {
    std::int64_t shards = size_of(mesh_, axes);
    if (points == 0 || points % shards != 0) return;
    for (std::int64_t room = points / shards; !unassigned.empty(); unassigned.erase(unassigned.begin())) {
      std::int64_t size = size_of(mesh_, unassigned.front());
      if (room % size != 0) return;
      append(mesh_, axes, unassigned.front());
      room /= size;
    }
  }
  bool in_all_tensors(std::uint32_t f) const {
    return std::all_of(large_.begin(), large_.end(),
                       [&](const FactoredTensor* t) { return has_factor(*t->factors, f); });
  }

  const Mesh& mesh_;
  const Factors& factors_;
  const std::vector<FactoredTensor>& tensors_;
  std::vector<const FactoredTensor*> large_;  // excludes scalars
};

// Blocks of an axis of several factors are blocks of each factor only if they are even, and the earlier factors are
// split into single points.
void keep_even(const Mesh& mesh, const Factors& factors, const AxisFactors& axis, std::vector<Axes>& common) {
  bool full = true;
  for (std::size_t k = 0; axis.factors.size() > 1 && k < axis.factors.size(); ++k) {
    std::int64_t points = factors.factors[axis.factors[k]].size;
    Axes& axes = common[axis.factors[k]];
    if (!full) axes.clear();
    axes = even_prefix(mesh, axes, points);
    full = full && size_of(mesh, axes) == points;
  }
}

}  // namespace

std::vector<Axes> common_axes(const Mesh& mesh, const Factors& factors, const std::vector<FactoredTensor>& tensors) {
  std::vector<Axes> common = Chooser(mesh, factors, tensors).choose();
  // Every index point uses the same position of an axis without an index dim: every computation needs it.
  for (std::uint32_t f = 0; f < common.size(); ++f)
    if (!factors.factors[f].dim && factors.factors[f].kind != FactorKind::permutation) common[f].clear();
  for (std::vector<Axes> before; before != common;) {
    before = common;
    for (const FactoredTensor& tensor : tensors)
      for (const AxisFactors& axis : tensor.factors->axes) keep_even(mesh, factors, axis, common);
  }
  return common;
}

}  // namespace tap::passes
