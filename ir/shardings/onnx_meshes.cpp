#include "ir/shardings/onnx_meshes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "support/check.h"
#include "support/plural.h"

namespace tap::ir::onnx {
namespace {

using Counts = std::vector<std::int64_t>;  // by axis

Counts counts_of(const Placed& placed) {
  Counts counts;
  for (const Parts& parts : placed.axes) counts.push_back(shards_of(parts));
  return counts;
}

// A digit of the device numbers: (device / step) % radix. Its value counts `weight` shards of an axis.
struct Digit {
  std::int64_t step = 1, radix = 1;
  std::optional<std::size_t> axis = {};  // none: copies
  std::int64_t weight = 0;
};

// Expresses the shard numbers of all devices 0 to n - 1, axis by axis, as digits of the device numbers.
class DigitSearch {
 public:
  DigitSearch(const std::vector<Counts>& coordinates, std::size_t rank) : coordinates_(coordinates), rank_(rank) {}

  // Minor to major.
  std::optional<std::vector<Digit>> search() {
    if (extend(1)) return digits_;
    return std::nullopt;
  }

 private:
  static constexpr int most_tries = 2000;  // n has many orders of prime factors, but few that start well

  bool extend(std::int64_t step) {
    auto n = static_cast<std::int64_t>(coordinates_.size());
    if (step == n) return explains_all();
    for (std::int64_t radix = 2, left = n / step; left > 1; ++radix) {
      if (left % radix != 0) continue;
      while (left % radix == 0) left /= radix;
      if (++tries_ > most_tries) return false;
      auto digit = digit_at(step, radix);
      if (!digit) continue;
      digits_.push_back(*digit);
      if (extend(step * radix)) return true;
      digits_.pop_back();
    }
    return false;
  }

  std::optional<Digit> digit_at(std::int64_t step, std::int64_t radix) const {
    Digit digit{step, radix};
    for (std::size_t a = 0; a < rank_; ++a) {
      std::int64_t weight = coordinate(step, a) - coordinate(0, a);
      for (std::int64_t k = 2; k < radix; ++k)
        if (coordinate(k * step, a) != coordinate(0, a) + k * weight) return std::nullopt;
      if (weight == 0) continue;
      if (weight < 0 || digit.axis) return std::nullopt;
      digit.axis = a;
      digit.weight = weight;
    }
    return digit;
  }

  bool explains_all() const {
    for (std::int64_t device = 0; device < static_cast<std::int64_t>(coordinates_.size()); ++device) {
      Counts expected(rank_);
      for (const Digit& digit : digits_)
        if (digit.axis) expected[*digit.axis] += device / digit.step % digit.radix * digit.weight;
      if (expected != coordinates_[static_cast<std::size_t>(device)]) return false;
    }
    return true;
  }

  std::int64_t coordinate(std::int64_t device, std::size_t axis) const {
    return coordinates_[static_cast<std::size_t>(device)][axis];
  }

  const std::vector<Counts>& coordinates_;
  std::size_t rank_;
  std::vector<Digit> digits_;
  int tries_ = 0;
};

class ToMesh {
 public:
  ToMesh(const Placed& placed, const Shape& shape, std::vector<Mesh>& meshes)
      : placed_(placed), shape_(shape), meshes_(meshes), counts_(counts_of(placed)) {}

  std::variant<Sharding, Broken> make() {
    if (auto broken = blocks_are_other()) return *broken;
    if (auto broken = list_devices()) return *broken;
    if (order_.size() == 1) return on(mesh_like({"", {}, order_}), std::vector<Axes>(shape_.size()));
    return by_digits();
  }

 private:
  std::optional<Broken> blocks_are_other() const {
    for (std::size_t a = 0; a < placed_.axes.size(); ++a)
      if (placed_.axes[a].size() > 1)
        return Broken{Rule::contiguous_blocks, fmt::format("the shards of axis {} are not contiguous", a)};
    return std::nullopt;
  }

  std::optional<Broken> list_devices() {
    std::size_t copies = placed_.shards.front().size();
    std::set<std::int64_t> seen;
    for (std::size_t s = 0; s < placed_.shards.size(); ++s) {
      if (placed_.shards[s].size() != copies)
        return Broken{Rule::mesh_copies,
                      fmt::format("shard 0 is on {} and shard {} on {}",
                                  plural(static_cast<std::uint64_t>(copies), "device"), s, placed_.shards[s].size())};
      for (std::int64_t device : placed_.shards[s]) {
        if (!seen.insert(device).second)
          return Broken{
              Rule::mesh,
              fmt::format("device {} holds more than one shard of the tensor, which tapc does not support", device)};
        order_.push_back(device);
      }
    }
    auto n = static_cast<std::int64_t>(order_.size());
    if (n > 1 && *seen.rbegin() != n - 1)
      return Broken{Rule::mesh_numbers, fmt::format("it is on the devices {}; expected 0 to {}",
                                                    to_string(Devices(seen.begin(), seen.end())), n - 1)};
    return std::nullopt;
  }

  // The coordinates of each device's shard, in this order of the devices.
  std::vector<Counts> coordinates(const Devices& order) const {
    std::vector<std::size_t> index(order.size());
    for (std::size_t p = 0; p < order.size(); ++p) index[static_cast<std::size_t>(order[p])] = p;
    std::vector<Counts> out(order.size());
    for (std::size_t s = 0; s < placed_.shards.size(); ++s) {
      Counts at(counts_.size());
      auto rest = static_cast<std::int64_t>(s);
      for (std::size_t a = counts_.size(); a-- > 0; rest /= counts_[a]) at[a] = rest % counts_[a];
      for (std::int64_t device : placed_.shards[s]) out[index[static_cast<std::size_t>(device)]] = at;
    }
    return out;
  }

  // As sub-axes of a mesh axis with the devices in order, or in an order that is already in use; else of a new mesh.
  Sharding by_digits() {
    auto n = static_cast<std::int64_t>(order_.size());
    Devices ascending = order_;
    std::sort(ascending.begin(), ascending.end());
    std::vector<Mesh> orders = {{"", {{"d", n}}, {}}};
    for (const Mesh& mesh : meshes_)
      if (mesh.axes == orders[0].axes && !mesh.devices.empty()) orders.push_back(mesh);
    orders.push_back({"", {{"d", n}}, order_});
    for (Mesh& mesh : orders)
      if (auto digits =
              DigitSearch(coordinates(mesh.devices.empty() ? ascending : mesh.devices), counts_.size()).search())
        return by(*digits, mesh_like(std::move(mesh)));
    TAP_UNREACHABLE("the devices, in the order of their shards, do not form a grid");
  }

  Sharding by(const std::vector<Digit>& digits, MeshId id) const {
    const Mesh& mesh = meshes_[id.index()];
    std::int64_t n = mesh.axes[0].size;
    std::vector<Axes> axes(shape_.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
      std::vector<Digit> own;
      for (const Digit& digit : digits)
        if (digit.axis == a) own.push_back(digit);
      std::sort(own.begin(), own.end(), [](const Digit& x, const Digit& y) { return x.weight > y.weight; });
      for (const Digit& digit : own)
        append(mesh, axes[a], axis_of(mesh, AxisId(0), {n / (digit.step * digit.radix), digit.radix}));
    }
    return on(id, std::move(axes));
  }

  // An existing equal mesh, or a new one.
  MeshId mesh_like(Mesh mesh) {
    for (std::size_t m = 0; m < meshes_.size(); ++m)
      if (meshes_[m].axes == mesh.axes && meshes_[m].devices == mesh.devices) return MeshId(m);
    for (int number = 1; mesh.name.empty(); ++number) {
      std::string name = number == 1 ? "devices" : fmt::format("devices{}", number);
      if (!find_mesh(meshes_, name)) mesh.name = name;
    }
    meshes_.push_back(std::move(mesh));
    return MeshId(meshes_.size() - 1);
  }

  Sharding on(MeshId mesh, std::vector<Axes> axes) const {
    Sharding sharding{mesh, {}, {}, {}, ""};
    for (Axes& dim : axes) sharding.dims.push_back({std::move(dim), false, std::nullopt});
    return canonical(meshes_[mesh.index()], sharding);
  }

  const Placed& placed_;
  const Shape& shape_;
  std::vector<Mesh>& meshes_;
  Counts counts_;
  Devices order_;  // by shard
};

}  // namespace

std::variant<Sharding, Broken> sharding_of(const Placed& placed, const Shape& shape, std::vector<Mesh>& meshes) {
  return ToMesh(placed, shape, meshes).make();
}

std::variant<Placed, Broken> placed_of(const Mesh& mesh, const Sharding& sharding, const Shape& shape) {
  if (!sharding.unreduced.empty())
    return Broken{Rule::partial_sums,
                  fmt::format("it is partial along {}", to_string(mesh, sharding.unreduced.front()))};
  Placed out;
  if (is_maximal(mesh)) return Placed{std::vector<Parts>(shape.size()), {{mesh.devices.front()}}};
  std::int64_t shards = 1;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    std::int64_t own = size_of(mesh, sharding.dims[a].axes);
    shards *= own;
    if (shape[a] == 1 && own > 1) return Broken{Rule::size_one, fmt::format("axis {} has {} shards of size 1", a, own)};
    out.axes.push_back(own == 1 ? Parts{} : Parts{{shape[a], own}});
  }
  out.shards.resize(static_cast<std::size_t>(shards));
  for (std::int64_t index = 0; index < device_count(mesh); ++index) {
    std::vector<std::int64_t> position = position_of(mesh, index);
    std::int64_t shard = 0;
    for (const DimSharding& dim : sharding.dims)
      for (const AxisRef& axis : dim.axes) shard = shard * size_of(mesh, axis) + coordinate(mesh, position, axis);
    out.shards[static_cast<std::size_t>(shard)].push_back(device_at(mesh, index));
  }
  for (Devices& devices : out.shards) std::sort(devices.begin(), devices.end());
  return out;
}

}  // namespace tap::ir::onnx
