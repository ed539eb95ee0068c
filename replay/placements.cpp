#include "replay/placements.h"

#include "check/justify.h"
#include "ir/block_graph.h"

namespace tap::check {

void check_place(const ir::Program& program, const ir::Operation& operation, const ir::Row& row, const Along& device,
                 const Moving& box) {
  auto unless = [&](bool holds) {
    expect(Obligation::placement, holds, "device {} does not do that block", device.first);
  };
  const Along none{0, std::vector<std::int64_t>(row.size(), 0)};
  for (const ir::BlockPlacement& p : operation.placements) {
    if (!is_on_devices(p)) continue;
    const bool whole = p.dim == ir::whole_operation;
    const Along block = whole ? Along{p.number, none.steps} : box.begins[p.dim];
    unless(whole || box.sizes[p.dim] == 1);
    if (!p.axis) unless(stays(device) && block == Along{listed_at(p.devices, device.first), none.steps});
    if (!p.axis) continue;
    const ir::Mesh& mesh = *std::ranges::find(program.meshes, p.mesh, &ir::Mesh::name);
    unless(mesh.devices.empty() || stays(device));
    Along place = device;
    if (!mesh.devices.empty()) place.first = std::ranges::find(mesh.devices, device.first) - mesh.devices.begin();
    std::int64_t minor = 1;
    std::optional<Along> along;
    for (std::size_t k = mesh.axes.size(); k-- > 0; minor = checked::mul(minor, mesh.axes[k].size)) {
      if (mesh.axes[k].name != p.axis->name) continue;
      ir::SubAxis part = p.axis->sub.value_or(ir::SubAxis{1, mesh.axes[k].size});
      const std::int64_t stride = checked::mul(minor, mesh.axes[k].size / (part.pre_size * part.size));
      along = digit(row, place, stride, part.size);
    }
    unless(ir::Range{0, minor}.contains(reach(row, place)) && along == block);
  }
  unless(device == Along{ir::everywhere, none.steps} || std::ranges::any_of(operation.placements, is_on_devices));
}

}  // namespace tap::check
