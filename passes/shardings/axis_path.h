// A path from one list of axes per dim to another, by steps that collectives implement. The bookkeeping of `reshard`;
// the order of the steps follows Shardy's reshard-to-collectives: slices first, since smaller tensors are cheaper to
// move; then one permute that places and orders as many axes as possible; then all-to-alls; gathers last.
//
// Axes are split until any two of them are equal or disjoint. The common prefix of the current and the target axes of
// a dim stays; the remaining current axes are *excess*, the remaining target axes are *missing*.
//
//   [{x, y}, {z}] → [{x}, {y, z}]     excess [y], [z]     missing [], [y, z]
#pragma once

#include <vector>

#include "ir/box.h"
#include "ir/shardings/axis_algebra.h"
#include "passes/shardings/collectives.h"

namespace tap::passes {

class AxisPath {
 public:
  // `partial`: the axes with partials that must be combined.
  AxisPath(const ir::Mesh& mesh, Shape shape, const ir::Sharding& from, const ir::Sharding& to, ir::Axes partial);

  // Finds the steps, with shardings but without costs; false if there is no path.
  bool walk(bool devices_change);
  const std::vector<Collective>& steps() const { return steps_; }

 private:
  using Lists = std::vector<ir::Axes>;  // per dim
  struct Spot {
    std::size_t dim;
    std::size_t index;
  };
  enum class Fit { none, whole, part };
  struct Attempt;

  ir::Axes excess(const Lists& lists, std::size_t dim) const;
  ir::Axes missing(const Lists& lists, std::size_t dim) const;
  std::optional<Spot> missing_at(const Lists& lists, const ir::AxisRef& axis) const;
  static bool held(const Lists& lists, const ir::AxisRef& axis);
  bool pending(const ir::AxisRef& axis) const;  // partials along it have yet to be combined
  std::int64_t size(const ir::Axes& axes) const { return ir::size_of(mesh_, axes); }
  std::int64_t size(const ir::AxisRef& axis) const;
  bool divisible(const ir::AxisRef& a, const ir::AxisRef& b) const;
  Fit fit(const ir::AxisRef& axis, std::int64_t capacity) const;
  bool done() const { return now_ == target_ && partial_.empty(); }

  void align();                                            // splits axes where others end
  void split(const ir::AxisRef& axis, std::int64_t size);  // splits the axis in two, everywhere
  bool assign(const ir::Axes& axes, Lists& at, std::vector<std::int64_t>& capacity, ir::Axes& rest);
  bool assign_one(const ir::Axes& axes, ir::Axes& at, std::int64_t& capacity, ir::Axes& rest);

  void slice();
  bool try_slice();
  ir::Axes slice_before_all_to_all(const Lists& next, std::size_t from, std::vector<std::int64_t>& capacity) const;
  bool combine();  // whether there were partials
  void permute(bool devices_change);
  bool permute_pays() const;
  bool try_permute(Lists& next);
  void all_to_alls(bool in_place);
  bool all_to_all(std::size_t from, bool in_place);
  void gather();

  ir::Sharding sharding(const Lists& lists) const;
  Collective& emit(CollectiveKind kind, Lists next);

  const ir::Mesh& mesh_;
  Shape shape_;
  ir::Sharding like_;  // the mesh, and unreduced axes that stay
  Lists now_;
  Lists target_;
  ir::Axes partial_;
  std::string monoid_;
  std::vector<Collective> steps_;
};

}  // namespace tap::passes
