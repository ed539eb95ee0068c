#include "replay/placements.h"

#include "check/justify.h"
#include "ir/block_graph.h"

namespace tap::check {

void check_device(const ir::Program& program, const ir::Operation& operation, const ir::Row& row, const Along& device,
                  const Moving& box, const std::vector<std::int64_t>& devices) {
  auto unless = [&](bool holds) {
    expect(Obligation::placement, holds, "device {} does not compute that block", device.first);
  };
  auto alone = [&] {
    unless(stays(device) && device.first >= 0);
    return devices.empty() ? device.first : devices[static_cast<std::size_t>(device.first)];
  };
  const Along none{0, std::vector<std::int64_t>(row.size(), 0)};
  for (const ir::BlockPlacement& p : operation.placements) {
    if (!is_on_devices(p)) continue;
    const bool whole = p.dim == ir::whole_operation;
    const Along block = whole ? Along{p.number, none.steps} : box.begins[p.dim];
    unless(whole || box.sizes[p.dim] == 1);
    if (!p.axis) unless(block == Along{listed_at(p.devices, alone()), none.steps});
    if (!p.axis) continue;
    const ir::Mesh& mesh = program[p.mesh];
    Along position = device;
    if (mesh.devices != devices)
      position.first = mesh.devices.empty() ? alone() : std::ranges::find(mesh.devices, alone()) - mesh.devices.begin();
    std::int64_t count = 1, above = 1;
    for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
      if (a < p.axis->id.index()) above = checked::mul(above, mesh.axes[a].size);
      count = checked::mul(count, mesh.axes[a].size);
    }
    const ir::SubAxis part = p.axis->sub.value_or(ir::SubAxis{1, mesh[p.axis->id].size});
    above = checked::mul(above, part.pre_size);
    const auto along = digits(row, position, {above, part.size, count / checked::mul(above, part.size)});
    unless(along && (*along)[1] == block);
  }
  unless(device == Along{ir::everywhere, none.steps} || std::ranges::any_of(operation.placements, is_on_devices));
}

}  // namespace tap::check
