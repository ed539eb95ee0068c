#include "passes/splits/place_on_devices.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/shardings/device_assignment.h"
#include "ir/text/plan_text.h"
#include "passes/splits/place_on_mesh.h"
#include "support/plural.h"

namespace tap::passes {

using namespace ir;

namespace {

PlanProblem plan_problem(PlanPart part, std::string message, std::string help = "") {
  return PlanProblem{0, std::move(message), part, "", std::move(help)};
}

// Blocks on devices are split first, so that blocks on threads are within one device.
bool is_outermost(const Operator& op, const Operation& operation, std::uint32_t dim) {
  return std::none_of(op.blockings.begin(), op.blockings.end(), [&](const Blocking& b) {
    bool over_devices = std::any_of(operation.placements.begin(), operation.placements.end(),
                                    [&](const BlockPlacement& p) { return p.dim == b.block_dim && on_devices(p); });
    return b.dim == dim && !over_devices;
  });
}

// The blocks that the lists give to a device, by list; nothing if one of them lacks it.
std::optional<std::vector<std::size_t>> blocks_of_device(std::int64_t device, const std::vector<DeviceSets>& lists) {
  std::vector<std::size_t> blocks;
  for (const DeviceSets& list : lists) {
    auto has = [&](const auto& set) { return std::binary_search(set.begin(), set.end(), device); };
    auto found = std::find_if(list.begin(), list.end(), has);
    if (found == list.end()) return std::nullopt;
    blocks.push_back(static_cast<std::size_t>(found - list.begin()));
  }
  return blocks;
}

// For lists of several dims: the first combination of blocks that no device has.
std::optional<std::vector<std::size_t>> without_device(const std::vector<DeviceSets>& lists) {
  std::set<std::vector<std::size_t>> found;
  for (const auto& set : lists.front())
    for (std::int64_t device : set)
      if (auto blocks = blocks_of_device(device, lists)) found.insert(std::move(*blocks));
  std::vector<std::size_t> at(lists.size(), 0);
  for (const std::vector<std::size_t>& next : found) {
    if (next != at) return at;
    std::size_t k = lists.size();
    while (k-- > 0 && ++at[k] == lists[k].size()) at[k] = 0;
    if (k > lists.size()) return std::nullopt;
  }
  return at;
}

// The dim that a block dim splits; the block dim itself if that is gone.
std::string name_of_placed(const Operator& op, const BlockPlacement& placed) {
  if (placed.dim == whole_operation) return "all of it";
  std::uint32_t dim = placed.dim;
  for (const Blocking& b : op.blockings)
    if (b.block_dim == placed.dim) dim = b.dim;
  return "`" + op.dims[dim].name + "`";
}

std::optional<PlanProblem> why_not_on_list(const Program& program, const Operator& op, const Operation& operation,
                                           std::optional<std::uint32_t> dim, const PlannedSplit& split) {
  if (dim && split.devices.size() != static_cast<std::size_t>(split.blocks.count))
    return plan_problem(PlanPart::number,
                        plural(split.blocks.count, "block") + " for " +
                            plural(static_cast<std::uint64_t>(split.devices.size()), "set") + " of devices",
                        "write `into " + std::to_string(split.devices.size()) + "`, or give one set per block");
  std::map<std::int64_t, std::size_t> block_of;
  for (std::size_t b = 0; b < split.devices.size(); ++b)
    for (std::int64_t device : split.devices[b]) {
      auto [has, fresh] = block_of.emplace(device, b);
      if (!fresh)
        return plan_problem(PlanPart::placement, "device " + std::to_string(device) + " would hold the blocks " +
                                                     std::to_string(has->second) + " and " + std::to_string(b) +
                                                     "; a device holds one box of a result");
    }
  if (split.all_at && *split.all_at >= static_cast<std::int64_t>(split.devices.size()))
    return plan_problem(PlanPart::number,
                        "device set " + std::to_string(*split.all_at) + " does not exist (sets are numbered from 0)");
  auto used = [](const DeviceSets& sets, std::int64_t number) {
    return DeviceSets{sets[static_cast<std::size_t>(number)]};
  };
  std::vector<DeviceSets> lists;
  std::string names;
  for (const BlockPlacement& other : operation.placements) {
    if (other.axis)
      return plan_problem(PlanPart::placement,
                          "`" + split.operation + "` is already on the mesh `" + program[other.mesh].name + "`");
    if (other.placement != Placement::devices) continue;
    lists.push_back(other.dim == whole_operation ? used(other.devices, other.number) : other.devices);
    names += (names.empty() ? "" : ", ") + name_of_placed(op, other);
  }
  lists.push_back(split.all_at ? used(split.devices, *split.all_at) : split.devices);
  if (auto missing = without_device(lists)) {
    std::string sets;
    for (std::size_t k = 0; k < lists.size(); ++k)
      sets += (k ? (k + 1 == lists.size() ? " and " : ", ") : "") + ir::to_string(DeviceSets{lists[k][(*missing)[k]]});
    return plan_problem(PlanPart::placement,
                        "the sets " + sets + " have no device in common: a block of `" + split.operation +
                            "` would have no device (it is already split over devices along " + names + ")");
  }
  return std::nullopt;
}

// Whether two blocks of the dim write interleaved cells: y[2*i + r] split over r.
bool interleaves(const Operator& op, std::uint32_t dim) {
  for (const Access& write : op.writes)
    for (std::size_t axis = 0; axis < write.projection.rank(); ++axis) {
      const AffineExpr& row = write.projection.start.rows[axis];
      if (row.coefficients[dim] == 0) continue;
      std::int64_t reach = write.projection.shape[axis];
      for (std::uint32_t d = 0; d < op.dims.size(); ++d)
        if (d != dim && !op.dims[d].range.empty())
          reach += std::abs(row.coefficients[d]) * (op.dims[d].range.size() - 1);
      if (std::abs(row.coefficients[dim]) < reach) return true;
    }
  return false;
}

}  // namespace

std::optional<PlanProblem> why_no_boxes(const Operator& op, std::uint32_t dim, const PlannedSplit& split) {
  if (!interleaves(op, dim)) return std::nullopt;
  return plan_problem(PlanPart::dim, "the blocks of `" + split.dim + "` are interleaved in the results of `" +
                                         split.operation + "`, so no device would hold a box");
}

std::optional<PlanProblem> why_not_on_devices(const Program& program, OperationInGraph location,
                                              std::optional<std::uint32_t> dim, const PlannedSplit& split) {
  const Operation& operation = program[location.graph][location.operation];
  const Operator& op = program[operation.op];
  auto list = [&] { return why_not_on_list(program, with_author_names(program, operation), operation, dim, split); };
  if (auto found = split.axis ? why_not_over_axis(program, location, split) : list()) return found;
  if (op.region() && op.region()->kind != RegionKind::group)
    return plan_problem(PlanPart::operation,
                        "`" + split.operation + "` is an iterate or a choice, whose body runs on all devices");
  if (dim && !is_outermost(op, operation, *dim))
    return plan_problem(PlanPart::dim,
                        "`" + split.dim + "` is already split over threads or a loop; split over a mesh first");
  return std::nullopt;
}

}  // namespace tap::passes
