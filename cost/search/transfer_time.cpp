#include "cost/search/transfer_time.h"

#include <algorithm>

#include "cost/model/links.h"
#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "ir/tensor_bytes.h"
#include "ir/text_names.h"
#include "passes/shardings/all_reduces.h"

namespace tap::cost {

using namespace ir;
using passes::Collective;
using passes::CollectiveKind;

namespace {

std::string text(const Mesh& mesh, const Axes& axes) {
  std::string out;
  for (const AxisRef& axis : axes) out += to_string(mesh, axis) + ",";
  return out;
}

// The axes in which the devices of a step's groups differ.
Axes axes_of_groups(const Mesh& mesh, const Collective& step) {
  Axes all = step.over;
  for (const Axes& axes : step.axes) all.insert(all.end(), axes.begin(), axes.end());
  if (step.kind == CollectiveKind::copy || step.kind == CollectiveKind::collective_permute)
    for (std::size_t a = 0; a < mesh.axes.size(); ++a) all.push_back({AxisId(a), {}});
  Axes distinct;  // a reduce-scatter names its axes as those of the partials and as those of the result
  for (const AxisRef& axis : all) {
    std::erase_if(distinct, [&](const AxisRef& other) {
      return overlap(mesh, {other}, {axis}) && size_of(mesh, other) < size_of(mesh, axis);
    });
    if (!overlap(mesh, distinct, {axis})) distinct.push_back(axis);
  }
  return in_mesh_order(mesh, distinct);
}

// The number of the device whose coordinates along these axes are the digits of `member`, major to minor, and
// otherwise 0.
std::int64_t member_of_group(const Mesh& mesh, const Axes& axes, std::int64_t member) {
  std::vector<std::int64_t> stride(mesh.axes.size(), 1);
  for (std::size_t a = mesh.axes.size(); a-- > 1;) stride[a - 1] = stride[a] * mesh.axes[a].size;
  std::int64_t index = 0;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const SubAxis digit = ir::digit(mesh, axes[k]);
    const std::int64_t below = mesh[axes[k].id].size / (digit.pre_size * digit.size);
    index += member % digit.size * below * stride[axes[k].id.index()];
    member /= digit.size;
  }
  return device_at(mesh, index);
}

}  // namespace

TransferTimes::TransferTimes(const Cluster& cluster, const Program& program, MeshId mesh,
                             const passes::Caution& caution)
    : cluster_(cluster), program_(program), mesh_(mesh), caution_(caution) {}

const TransferTimes::Group& TransferTimes::group(const Axes& axes) {
  const Mesh& mesh = program_[mesh_];
  auto [place, fresh] = groups_.try_emplace(text(mesh, axes));
  if (!fresh) return place->second;
  Group& group = place->second;
  const std::int64_t members = size_of(mesh, axes);
  const std::int64_t own = member_of_group(mesh, axes, 0);
  for (std::int64_t m = 1; m < members; ++m) {
    const Route route = route_between(cluster_, member_of_group(mesh, axes, m), own);
    group.latency += route.latency;
    if (route.bandwidth > 0) group.seconds_per_byte += 1 / route.bandwidth / static_cast<double>(members - 1);
    const Route near = route_between(cluster_, member_of_group(mesh, axes, m), member_of_group(mesh, axes, m - 1));
    group.neighbours.latency = std::max(group.neighbours.latency, near.latency);
    if (near.bandwidth > 0)
      group.neighbours.seconds_per_byte = std::max(group.neighbours.seconds_per_byte, 1 / near.bandwidth);
  }
  return group;
}

TransferCost TransferTimes::from_group(const Axes& axes, double bytes) {
  const Group& all = group(axes);
  return {all.latency + bytes * all.seconds_per_byte, bytes};
}

TransferCost TransferTimes::all_reduce(const Collective& step, const TensorType& type, double bytes,
                                       Combination combination) {
  const Mesh& mesh = program_[mesh_];
  const Axes axes = axes_of_groups(mesh, step);
  const Group& all = group(axes);
  const double held = total_bytes({type.element, local_shape(mesh, step.before, type.shape)});
  const std::string& monoid = step.before.unreduced_monoid;
  const passes::Rounds rounds = passes::rounds_of_all_reduce(
      size_of(mesh, axes), held, !passes::combines_in_groups(program_, monoid, type.element, caution_));
  if (rounds.empty() || combination == Combination::by_slices)
    return {2 * all.latency + bytes * all.seconds_per_byte, bytes};
  const auto messages = static_cast<double>(passes::messages_of(rounds));
  const double one = all.latency / static_cast<double>(size_of(mesh, axes) - 1);
  return {messages * (one + held * all.seconds_per_byte), messages * held};
}

TransferCost TransferTimes::exchange(const Axes& axes, double bytes) {
  if (bytes <= 0 || size_of(program_[mesh_], axes) < 2) return {};
  const Neighbours& slowest = group(axes).neighbours;  // all devices wait for these
  return {2 * slowest.latency + bytes * slowest.seconds_per_byte, bytes};
}

TransferCost TransferTimes::shift(const Axes& axis, double bytes) {
  const Neighbours& slowest = group(axis).neighbours;
  return {slowest.latency + bytes * slowest.seconds_per_byte, bytes};
}

double TransferTimes::copy(double bytes) const {
  const Device& device = cluster_.types.front();
  double seconds = device.call;
  if (device.levels.empty()) return seconds;
  const MemoryLevel& memory = device.levels.back();
  for (double rate : {memory.read_shared, memory.write_shared})
    if (rate > 0) seconds += bytes / rate;
  return seconds;
}

TransferCost TransferTimes::reshard(const Sharding& from, const Sharding& to, const TensorType& type,
                                    Combination combination) {
  if (from == to) return {};
  std::string key = to_string(program_.meshes, from) + " " + to_string(program_.meshes, to) + " " +
                    std::to_string(size_of(type.element)) + (combination == Combination::by_slices ? " s" : "");
  for (std::int64_t extent : type.shape) key += " " + std::to_string(extent);
  if (auto known = known_.find(key); known != known_.end()) return known->second;
  const Mesh& mesh = program_[mesh_];
  TransferCost cost;
  for (const Collective& step : passes::reshard({mesh, from}, {mesh, to}, type.shape)) {
    const double bytes = static_cast<double>(step.moved) * static_cast<double>(size_of(type.element));
    if (bytes <= 0) continue;
    // One device of the group sends a whole box.
    if (step.kind == CollectiveKind::collective_permute) cost += exchange(axes_of_groups(mesh, step), bytes);
    else if (step.kind == CollectiveKind::all_reduce) cost += all_reduce(step, type, bytes, combination);
    else cost += from_group(axes_of_groups(mesh, step), bytes);
  }
  known_.emplace(std::move(key), cost);
  return cost;
}

}  // namespace tap::cost
