#include "ir/shardings/device_assignment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/graph.h"
#include "ir/shardings/mesh_position.h"

namespace tap::ir {

DeviceAssignment::DeviceAssignment(const Program& program, const Operation& operation)
    : operation_(operation), mesh_(mesh_of(program, operation)) {
  for (const BlockPlacement& p : operation.placements) {
    if (p.placement != Placement::devices) continue;
    listed_ = true;
    for (const std::vector<std::int64_t>& set : p.devices) devices_.insert(devices_.end(), set.begin(), set.end());
  }
  std::sort(devices_.begin(), devices_.end());
  devices_.erase(std::unique(devices_.begin(), devices_.end()), devices_.end());
}

std::int64_t DeviceAssignment::count() const {
  return mesh_ ? device_count(*mesh_) : static_cast<std::int64_t>(devices_.size());
}

std::int64_t DeviceAssignment::device(std::int64_t index) const {
  return mesh_ ? device_at(*mesh_, index) : devices_[static_cast<std::size_t>(index)];
}

std::optional<Box> DeviceAssignment::box(const Operator& op, std::int64_t index) const {
  std::vector<std::int64_t> position = mesh_ ? position_of(*mesh_, index) : std::vector<std::int64_t>{};
  Box box = op.box();
  for (const BlockPlacement& p : operation_.placements) {
    if (!on_devices(p)) continue;
    std::optional<std::int64_t> at = block(p, index, position);
    if (!at || (p.dim == whole_operation && *at != p.number)) return std::nullopt;
    if (p.dim != whole_operation) box.dims[p.dim] = intersect(box.dims[p.dim], Range{*at, *at + 1});
  }
  return narrowed(op, std::move(box));
}

std::optional<std::int64_t> DeviceAssignment::block(const BlockPlacement& p, std::int64_t index,
                                                    const std::vector<std::int64_t>& position) const {
  if (p.axis) return coordinate(*mesh_, position, *p.axis);
  for (std::size_t b = 0; b < p.devices.size(); ++b)
    if (std::binary_search(p.devices[b].begin(), p.devices[b].end(), device(index)))
      return static_cast<std::int64_t>(b);
  return std::nullopt;
}

const Mesh* mesh_of(const Program& program, const Operation& operation) {
  for (const BlockPlacement& p : operation.placements)
    if (p.axis) return &program[p.mesh];
  return nullptr;
}

BlockPlacement without_dim(BlockPlacement p) {
  p.dim = whole_operation;
  p.number = 0;
  return p;
}

std::string to_string(const DeviceSets& devices) {
  std::string text;
  for (const std::vector<std::int64_t>& set : devices)
    text += fmt::format("{}{{{}}}", text.empty() ? "" : ", ", fmt::join(set, ", "));
  return text;
}

}  // namespace tap::ir
