// Where the blocks of an operation go: on a mesh each has a device.
#include "check/justify.h"
#include "ir/block_graph.h"

namespace tap::check {

void check_placements(const ir::Program& program, const ir::Operation& operation) {
  const ir::Operator& op = program[operation.op];
  auto unless = [](bool holds, const char* why) { expect(Obligation::placement, holds, "{}", why); };
  auto find = [&](const auto& list, const std::string& name) {
    auto found = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
    expect(Obligation::placement, found != list.end(), "there is no mesh or axis `{}`", name);
    return found;
  };
  auto part_of = [&](const ir::BlockPlacement& p) {
    std::int64_t size = find(find(program.meshes, p.mesh)->axes, p.axis->name)->size;
    ir::SubAxis part = p.axis->sub.value_or(ir::SubAxis{1, size});
    unless(part.pre_size >= 1 && part.size >= 1 && size % checked::mul(part.pre_size, part.size) == 0,
           "what blocks are placed on is no part of its axis");
    return part;
  };
  for (const ir::BlockPlacement& p : operation.placements) {
    bool block = std::ranges::any_of(op.blockings, [&](auto& b) { return b.block_dim == p.dim; });
    unless(block || op.dims[p.dim].role == ir::DimRole::parallel, "what is placed is no number of a block");
    unless((p.placement == ir::Placement::mesh_axis) == p.axis.has_value(), "blocks go to an axis without a name");
    ir::SubAxis part = p.axis ? part_of(p) : ir::SubAxis{};
    const ir::Range blocks = op.dims[p.dim].range;
    expect(Obligation::placement, !p.axis || (blocks.lo >= 0 && blocks.hi <= part.size), "blocks {}..{} on {} devices",
           blocks.lo, blocks.hi, part.size);
    for (const ir::BlockPlacement& other : operation.placements) {
      if (&other == &p) continue;
      unless(other.dim != p.dim, "the blocks of one dim are placed twice");
      if (!p.axis || !other.axis) continue;
      unless(other.mesh == p.mesh, "the blocks go to two meshes");
      ir::SubAxis rest = part_of(other);
      bool apart = rest.pre_size % (part.pre_size * part.size) == 0 || part.pre_size % (rest.pre_size * rest.size) == 0;
      unless(other.axis->name != p.axis->name || apart, "two dims are placed on one axis: some blocks have no device");
    }
  }
}

void check_place(const ir::Program& program, const ir::Operation& operation, std::int64_t device, const Ranges& box) {
  auto unless = [&](bool holds) { expect(Obligation::placement, holds, "device {} does not do that block", device); };
  bool on_mesh = false;
  for (const ir::BlockPlacement& p : operation.placements) {
    if (!p.axis) continue;
    on_mesh = true;
    const ir::Mesh& mesh = *std::ranges::find(program.meshes, p.mesh, &ir::Mesh::name);
    auto found = std::ranges::find(mesh.devices, device);
    std::int64_t place = mesh.devices.empty() ? device : found - mesh.devices.begin(), minor = 1, along = 0;
    for (std::size_t k = mesh.axes.size(); k-- > 0; minor = checked::mul(minor, mesh.axes[k].size)) {
      if (mesh.axes[k].name != p.axis->name) continue;
      ir::SubAxis part = p.axis->sub.value_or(ir::SubAxis{1, mesh.axes[k].size});
      along = place / checked::mul(minor, mesh.axes[k].size / (part.pre_size * part.size)) % part.size;
    }
    unless(place >= 0 && place < minor && box[p.dim] == ir::Range{along, along + 1});
  }
  unless(on_mesh || device == ir::everywhere);
}

}  // namespace tap::check
