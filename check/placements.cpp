// Placements: every block of an operation, on a mesh or on listed devices, has a device.
#include "check/justify.h"

namespace tap::check {

namespace {

// The blocks that need a device.
ir::Range range_of(const ir::Operator& op, const ir::BlockPlacement& p) {
  return p.dim == ir::whole_operation ? ir::Range{p.number, checked::add(p.number, 1)} : op.dims[p.dim].range;
}

}  // namespace

std::int64_t listed_at(const ir::DeviceSets& lists, std::int64_t device) {
  auto has = [&](const auto& set) { return std::ranges::count(set, device) > 0; };
  expect(Obligation::placement, std::ranges::count_if(lists, has) <= 1, "device {} has two blocks", device);
  auto found = std::ranges::find_if(lists, has);
  return found == lists.end() ? -1 : found - lists.begin();
}

namespace {

// Every combination of blocks of dims with lists has a device.
void check_lists(const ir::Operator& op, const ir::Operation& operation) {
  std::set<std::int64_t> devices;
  std::vector<std::pair<const ir::DeviceSets*, ir::Range>> lists;
  std::int64_t needed = 1;
  for (const ir::BlockPlacement& p : operation.placements) {
    if (p.devices.empty()) continue;
    const auto& [sets, blocks] = lists.emplace_back(&p.devices, range_of(op, p));
    needed = checked::mul(needed, std::max<std::int64_t>(blocks.hi - blocks.lo, 0));
    for (const auto& set : *sets) devices.insert(set.begin(), set.end());
  }
  std::set<std::vector<std::int64_t>> found;
  for (std::int64_t device : devices) {
    std::vector<std::int64_t> at;
    for (const auto& [sets, blocks] : lists)
      if (std::int64_t k = listed_at(*sets, device); blocks.lo <= k && k < blocks.hi) at.push_back(k);
    if (at.size() == lists.size()) found.insert(std::move(at));
  }
  expect(Obligation::placement, devices.empty() || std::ssize(found) == needed, "{} blocks, but devices for {}", needed,
         found.size());
}

}  // namespace

void check_placements(const ir::Program& program, const ir::Operation& operation) {
  const ir::Operator& op = program[operation.op];
  auto unless = [](bool holds, const char* why) { expect(Obligation::placement, holds, "{}", why); };
  auto part_of = [&](const ir::BlockPlacement& p) {
    std::int64_t size = program[p.mesh][p.axis->id].size;
    ir::SubAxis part = p.axis->sub.value_or(ir::SubAxis{1, size});
    unless(part.pre_size >= 1 && part.size >= 1 && size % checked::mul(part.pre_size, part.size) == 0,
           "the sub-axis of a placement is not part of its axis");
    return part;
  };
  for (const ir::BlockPlacement& p : operation.placements) {
    const bool whole = p.dim == ir::whole_operation;
    bool block = std::ranges::any_of(op.blockings, [&](auto& b) { return b.block_dim == p.dim; });
    unless(whole ? is_on_devices(p) : block || op.dims[p.dim].role == ir::DimRole::parallel,
           "the placed dim is not a block dim");
    unless((p.placement == ir::Placement::mesh_axis) == p.axis.has_value(), "blocks are placed on an unnamed axis");
    unless((p.placement == ir::Placement::devices) != p.devices.empty(), "blocks are placed on unlisted devices");
    ir::SubAxis part = p.axis ? part_of(p) : ir::SubAxis{1, std::ssize(p.devices)};
    const ir::Range blocks = range_of(op, p);
    expect(Obligation::placement, !is_on_devices(p) || (blocks.lo >= 0 && blocks.hi <= part.size),
           "blocks {}..{} on {} devices", blocks.lo, blocks.hi, part.size);
    for (const ir::BlockPlacement& other : operation.placements) {
      unless(&other == &p || other.dim != p.dim || whole, "the blocks of one dim are placed twice");
      if (&other == &p || !is_on_devices(p) || !is_on_devices(other)) continue;
      unless(other.mesh == p.mesh && other.placement == p.placement, "the blocks are placed on two meshes");
      if (!p.axis) continue;
      ir::SubAxis rest = part_of(other);
      bool disjoint = rest.pre_size % (part.pre_size * part.size) == 0 ||
                      part.pre_size % (rest.pre_size * rest.size) == 0;
      unless(other.axis->id != p.axis->id || disjoint, "two dims are placed on one axis: some blocks have no device");
    }
  }
  check_lists(op, operation);
}

}  // namespace tap::check
