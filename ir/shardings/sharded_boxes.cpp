#include "ir/shardings/sharded_boxes.h"

#include <algorithm>

#include "ir/blocks.h"
#include "ir/shardings/mesh_position.h"
#include "support/check.h"

namespace tap::ir {
namespace {

// One digit of a device's position in the mesh, independent of axes: position / stride % size.
struct IndexDigit {
  std::int64_t stride = 1;
  std::int64_t size = 1;
  bool operator==(const IndexDigit&) const = default;
};

IndexDigit index_digit(const Mesh& mesh, const AxisRef& axis) {
  std::int64_t stride = 1;
  for (std::size_t a = axis.id.index() + 1; a < mesh.axes.size(); ++a) stride *= mesh.axes[a].size;
  SubAxis d = digit(mesh, axis);
  return {stride * (mesh[axis.id].size / (d.pre_size * d.size)), d.size};
}

// As few digits as possible.
std::vector<IndexDigit> index_digits(const Mesh& mesh, const Axes& axes) {
  std::vector<IndexDigit> digits;
  for (const AxisRef& axis : axes) {
    IndexDigit next = index_digit(mesh, axis);
    if (next.size == 1) continue;
    if (!digits.empty() && digits.back().stride == next.stride * next.size)
      digits.back() = {next.stride, digits.back().size * next.size};
    else digits.push_back(next);
  }
  return digits;
}

std::int64_t number_at(const Mesh& mesh, const Axes& axes, const std::vector<std::int64_t>& position) {
  std::int64_t number = 0;
  for (const AxisRef& axis : axes) number = number * size_of(mesh, axis) + coordinate(mesh, position, axis);
  return number;
}

}  // namespace

bool is_maximal(const Mesh& mesh) { return mesh.axes.empty() && mesh.devices.size() == 1; }

bool same_devices_in_order(const Mesh& a, const Mesh& b) {
  std::int64_t count = device_count(a);
  if (device_count(b) != count) return false;
  if (a.devices == b.devices) return true;
  for (std::int64_t index = 0; index < count; ++index)
    if (device_at(a, index) != device_at(b, index)) return false;
  return true;
}

Box box_at(const Mesh& mesh, const Sharding& sharding, const Shape& shape, std::int64_t index) {
  TAP_CHECK(sharding.dims.size() == shape.size(), "a sharding of the wrong rank");
  std::vector<std::int64_t> position = position_of(mesh, index);
  Box box;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Axes& axes = sharding.dims[d].axes;
    box.dims.push_back(Blocks{size_of(mesh, axes)}.block({0, shape[d]}, number_at(mesh, axes, position)));
  }
  return box;
}

Shape local_shape(const Mesh& mesh, const Sharding& sharding, const Shape& shape) {
  return box_at(mesh, sharding, shape, 0).shape();
}

std::vector<std::int64_t> holders(const Mesh& mesh, const Sharding& sharding, const Shape& shape, const Box& box) {
  std::vector<std::int64_t> ids;
  for (std::int64_t index = 0; index < device_count(mesh); ++index)
    if (box_at(mesh, sharding, shape, index).contains(box)) ids.push_back(device_at(mesh, index));
  std::sort(ids.begin(), ids.end());
  return ids;
}

bool same_placement(const Mesh& mesh_a, const Sharding& a, const Mesh& mesh_b, const Sharding& b) {
  if (a.dims.size() != b.dims.size() || device_count(mesh_a) != device_count(mesh_b)) return false;
  bool whole = true;  // on every device
  for (std::size_t d = 0; d < a.dims.size(); ++d) {
    std::vector<IndexDigit> digits = index_digits(mesh_a, a.dims[d].axes);
    if (digits != index_digits(mesh_b, b.dims[d].axes)) return false;
    whole &= digits.empty();
  }
  return (whole && !is_maximal(mesh_a) && !is_maximal(mesh_b)) || same_devices_in_order(mesh_a, mesh_b);
}

}  // namespace tap::ir
