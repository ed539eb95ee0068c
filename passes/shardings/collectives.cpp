#include "passes/shardings/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "ir/text_names.h"
#include "passes/shardings/axis_path.h"
#include "support/check.h"
#include "support/checked.h"
#include "support/tensor.h"

namespace tap::passes {

using namespace ir;

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

// Whether splitting each of `outer` shards into `inner` gives the shards of all axes together: not for 10 over 2 and
// then 3, where 0..5 is split into 2, 2, 1, but the flat rule gives 2, 2, 2, 2, 2, 0.
bool nests(std::int64_t cells, std::int64_t outer, std::int64_t inner) {
  std::int64_t block = ceil_div(cells, outer);
  return block == cells || block == inner * ceil_div(cells, checked::mul(outer, inner));
}

// Whether the group of a step holds what each of its devices needs.
bool fits_boxes(const Mesh& mesh, const Collective& step, const Shape& shape) {
  auto shard_count = [&](const Sharding& s, std::size_t d) { return size_of(mesh, s.dims[d].axes); };
  if (step.kind == CollectiveKind::collective_permute) return true;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t before = shard_count(step.before, d), after = shard_count(step.after, d);
    auto [few, many] = std::minmax(before, after);
    if (many != few && !nests(shape[d], few, many / few)) return false;
  }
  return true;
}

std::int64_t cells(const OnMesh& placed, const Shape& shape) {
  std::int64_t product = 1;
  for (std::int64_t n : local_shape(placed.mesh, placed.sharding, shape)) product = checked::mul(product, n);
  return product;
}

std::map<std::int64_t, Box> boxes_by_device(const OnMesh& placed, const Shape& shape) {
  std::map<std::int64_t, Box> boxes;
  for (std::int64_t index = 0; index < device_count(placed.mesh); ++index)
    boxes[device_at(placed.mesh, index)] = box_at(placed.mesh, placed.sharding, shape, index);
  return boxes;
}

std::int64_t cells_copied(const OnMesh& before, const OnMesh& after, const Shape& shape) {
  std::map<std::int64_t, Box> have = boxes_by_device(before, shape);
  std::int64_t most = 0;
  for (const auto& [device, box] : boxes_by_device(after, shape)) {
    auto own = have.find(device);
    most = std::max(most, box.size() - (own == have.end() ? 0 : intersect(box, own->second).size()));
  }
  return most;
}

// The axis of another mesh of equal size for the part of an axis list given by a digit of positions at `stride` from
// the minor end.
std::optional<Axes> axes_at(const Mesh& mesh, std::int64_t stride, std::int64_t size) {
  Axes all;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a)
    if (mesh.axes[a].size > 1) all.push_back({AxisId(a), {}});
  std::int64_t count = device_count(mesh);
  if (count % checked::mul(stride, size) != 0) return std::nullopt;
  auto after_major = split_at(mesh, all, count / (stride * size));
  auto digits = after_major ? split_at(mesh, after_major->minor, size) : std::nullopt;
  return digits ? std::optional(digits->major) : std::nullopt;
}

std::optional<Axes> written_on(const Mesh& mesh, const Mesh& other, const Axes& axes) {
  Axes result;
  for (const AxisRef& axis : axes) {
    std::int64_t stride = 1;
    for (std::size_t a = axis.id.index() + 1; a < other.axes.size(); ++a) stride *= other.axes[a].size;
    SubAxis d = digit(other, axis);
    std::int64_t below = other[axis.id].size / (d.pre_size * d.size);
    auto same = axes_at(mesh, stride * below, d.size);
    if (!same) return std::nullopt;
    for (const AxisRef& part : *same) append(mesh, result, part);
  }
  return result;
}

// A sharding in the axes of another mesh with the same devices in the same order, if they can express it.
std::optional<Sharding> written_on(const OnMesh& own, const OnMesh& placed) {
  const Mesh& mesh = own.mesh;
  Sharding result{own.sharding.mesh, {}, {}, {}, placed.sharding.unreduced_monoid};
  for (const DimSharding& dim : placed.sharding.dims) {
    auto axes = written_on(mesh, placed.mesh, dim.axes);
    if (!axes) return std::nullopt;
    result.dims.push_back({*axes, false, {}});
  }
  auto unreduced = written_on(mesh, placed.mesh, placed.sharding.unreduced);
  if (!unreduced) return std::nullopt;
  result.unreduced = in_mesh_order(mesh, *unreduced);
  return result;
}

bool is_replicated(const OnMesh& placed) {
  return !is_maximal(placed.mesh) && std::all_of(placed.sharding.dims.begin(), placed.sharding.dims.end(),
                                                 [](const DimSharding& dim) { return dim.axes.empty(); });
}

bool all_fit_together(const Mesh& mesh, const Sharding& a, const Sharding& b) {
  for (const AxisRef& x : used_axes(a))
    for (const AxisRef& y : used_axes(b))
      if (!are_compatible(mesh, x, y)) return false;
  return true;
}

// Only the placement of cells: closed, without priorities and explicit replication.
// The steps so far, and their result.
class Route {
 public:
  Route(const OnMesh& from, const OnMesh& to, const Shape& shape)
      : from_(from), to_(to), shape_(shape), now_(bare(from.mesh, from.sharding)) {}

  // By collectives; false, without changes, if that is impossible.
  bool walk(const Sharding& target) {
    const Mesh& mesh = from_.mesh;
    bool devices_change = !same_devices_in_order(mesh, to_.mesh) && !is_replicated(to_);
    AxisPath path(mesh, shape_, now_, target, without(mesh, now_.unreduced, target.unreduced));
    if (!path.walk(devices_change)) return false;
    for (const Collective& step : path.steps())
      if (!fits_boxes(mesh, step, shape_)) return false;
    bool changed = false;
    for (Collective step : path.steps()) {
      const OnMesh& before = changed ? to_ : from_;
      changed |= devices_change && step.kind == CollectiveKind::collective_permute;
      const OnMesh& after = changed ? to_ : from_;
      step.before.mesh = before.sharding.mesh;
      step.after.mesh = after.sharding.mesh;
      add(std::move(step), before.mesh, after.mesh);
    }
    return true;
  }

  // Combines partials in place, then copies boxes.
  void copy() {
    Collective reduce{.kind = CollectiveKind::all_reduce, .axes = {}, .over = now_.unreduced, .before = now_};
    now_.unreduced.clear();
    now_.unreduced_monoid.clear();
    reduce.after = now_;
    if (!reduce.over.empty()) add(std::move(reduce), from_.mesh, from_.mesh);
    Sharding after = bare(to_.mesh, to_.sharding);
    after.unreduced.clear();
    after.unreduced_monoid.clear();
    if (!same_placement(from_.mesh, now_, to_.mesh, after))
      add({.kind = CollectiveKind::copy, .axes = {}, .before = now_, .after = after}, from_.mesh, to_.mesh);
  }

  // Ends with the requested sharding. Requested partials: one device of each group has the values, the others have the
  // identity.
  void finish(const Axes& partial) {
    Sharding last = bare(to_.mesh, to_.sharding);
    if (!partial.empty()) {
      Collective step{.kind = CollectiveKind::to_partial, .axes = {}, .over = partial, .before = last, .after = last};
      step.before.unreduced = without(to_.mesh, last.unreduced, partial);
      if (step.before.unreduced.empty()) step.before.unreduced_monoid.clear();
      add(std::move(step), to_.mesh, to_.mesh);
    }
    if (!steps_.empty()) steps_.back().after = last;
  }

  std::vector<Collective> steps() && { return std::move(steps_); }

 private:
  void add(Collective step, const Mesh& before, const Mesh& after) {
    step.axes.resize(shape_.size());
    step.moved = elements_moved(step, {before, step.before}, {after, step.after}, shape_);
    now_ = step.after;
    steps_.push_back(std::move(step));
  }

  const OnMesh& from_;
  const OnMesh& to_;
  const Shape& shape_;
  Sharding now_;
  std::vector<Collective> steps_;
};

}  // namespace

std::string_view name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_slice: return "all_slice";
    case CollectiveKind::collective_permute: return "collective_permute";
    case CollectiveKind::all_to_all: return "all_to_all";
    case CollectiveKind::all_gather: return "all_gather";
    case CollectiveKind::all_reduce: return "all_reduce";
    case CollectiveKind::reduce_scatter: return "reduce_scatter";
    case CollectiveKind::to_partial: return "to_partial";
    case CollectiveKind::copy: return "copy";
  }
  TAP_UNREACHABLE("no such collective");
}

std::string to_string(const std::vector<Mesh>& meshes, const Collective& step) {
  const Mesh& mesh = meshes[step.before.mesh.index()];
  auto braces = [&](const Axes& axes) {
    std::vector<std::string> parts;
    for (const AxisRef& axis : axes) parts.push_back(to_string(mesh, axis));
    return "{" + ir::joined(parts) + "}";
  };
  std::string text(name(step.kind));
  if (!step.over.empty()) text += " " + braces(step.over);
  if (step.kind == CollectiveKind::all_to_all)
    text += fmt::format(" from dim {} to dim {}", step.from_dim, step.to_dim);
  std::vector<std::string> dims;
  bool any = false;
  for (const Axes& axes : step.axes) {
    dims.push_back(braces(axes));
    any |= !axes.empty();
  }
  if (any) text += " [" + ir::joined(dims) + "]";
  return text + " -> " + to_string(meshes, step.after);
}

// Axis by axis, the last one first. What a device has combined along the axes after this one holds its slice, if the slices are
// parts of each other.
std::int64_t elements_scattered(const Mesh& mesh, const Axes& levels, const std::vector<Axes>& slices,
                                std::int64_t out) {
  std::int64_t moved = 0, cells = out;  // of a device's slice
  std::vector<Axes> inside = slices;    // along the axes from this one on
  for (std::size_t level = 0; level < levels.size(); ++level) {
    std::vector<Axes> after = inside;
    bool is_inside = true;
    for (std::size_t d = 0; d < after.size(); ++d) {
      after[d] = without(mesh, inside[d], {levels[level]});
      is_inside = is_inside && is_prefix(mesh, after[d], inside[d]);
    }
    const bool has_own = level + 1 == levels.size() || is_inside;
    moved = checked::add(moved, checked::mul(cells, size_of(mesh, Axes{levels[level]}) - (has_own ? 1 : 0)));
    for (std::size_t d = 0; d < after.size(); ++d)
      cells = checked::mul(cells, size_of(mesh, inside[d]) / size_of(mesh, after[d]));
    inside = std::move(after);
  }
  return moved;
}

// Axis by axis, the last one first: each device combines a slice of what it has, along the first dim that divides evenly or else the
// longest one (plan_shardings.cpp), or all of it if no dim is long enough. Then the slices are gathered.
std::int64_t elements_of_all_reduce(const Mesh& mesh, const Axes& over, Shape own) {
  const std::int64_t all = element_count(own);
  std::int64_t moved = 0;
  for (std::size_t level = over.size(); level-- > 0;) {
    const std::int64_t devices = size_of(mesh, Axes{over[level]});
    auto divides = [&](std::int64_t n) { return n >= devices && n % devices == 0; };
    auto dim = std::ranges::find_if(own, divides);
    if (dim == own.end()) dim = std::ranges::max_element(own);
    if (dim != own.end() && *dim >= devices) *dim = ceil_div(*dim, devices);
    moved = checked::add(moved, checked::mul(element_count(own), devices - 1));
  }
  return checked::add(moved, all - element_count(own));
}

std::int64_t elements_moved(const Collective& step, const OnMesh& before, const OnMesh& after, const Shape& shape) {
  if (step.kind == CollectiveKind::copy) return cells_copied(before, after, shape);
  std::int64_t in = cells(before, shape), out = cells(after, shape);
  std::int64_t group = size_of(before.mesh, step.over);
  switch (step.kind) {
    case CollectiveKind::all_slice:
    case CollectiveKind::to_partial: return 0;
    case CollectiveKind::collective_permute: return out;
    case CollectiveKind::all_to_all: return out - out / group;
    case CollectiveKind::all_gather: return out - in;
    case CollectiveKind::all_reduce:
      return elements_of_all_reduce(before.mesh, step.over, local_shape(before.mesh, before.sharding, shape));
    case CollectiveKind::reduce_scatter: return elements_scattered(before.mesh, step.over, step.axes, out);
    case CollectiveKind::copy: break;
  }
  TAP_UNREACHABLE("no such collective");
}

std::vector<Collective> reshard(const OnMesh& from, const OnMesh& to, const Shape& shape) {
  TAP_CHECK(from.sharding.dims.size() == shape.size() && to.sharding.dims.size() == shape.size(),
            "shardings of the wrong rank");
  if (from.mesh != to.mesh && is_replicated(from) && from.sharding.unreduced.empty() && !is_maximal(to.mesh)) {
    Sharding same{to.sharding.mesh, std::vector<DimSharding>(shape.size()), {}, {}, ""};
    return reshard({to.mesh, same}, to, shape);
  }
  const bool same_axes = from.mesh.axes == to.mesh.axes;
  std::optional<Sharding> target;  // in the axes of the source mesh
  if (same_axes) target = bare(to.mesh, to.sharding);
  else if (is_replicated(to) || same_devices_in_order(from.mesh, to.mesh)) target = written_on(from, to);
  if (is_maximal(from.mesh) || is_maximal(to.mesh)) target.reset();
  if (target && !all_fit_together(from.mesh, from.sharding, *target)) target.reset();
  Route route(from, to, shape);
  const Axes &have = from.sharding.unreduced, &required = to.sharding.unreduced;
  Axes kept;  // partials that stay
  if (target && from.mesh == to.mesh && from.sharding.unreduced_monoid == to.sharding.unreduced_monoid)
    kept = without(from.mesh, have, without(from.mesh, have, required));
  if (target) {
    target->unreduced = kept;
    target->unreduced_monoid = kept.empty() ? "" : to.sharding.unreduced_monoid;
  }
  if (!target || !route.walk(*target)) {
    route.copy();
    kept.clear();
  }
  route.finish(without(to.mesh, required, kept));
  return std::move(route).steps();
}

}  // namespace tap::passes
