#include "passes/shardings/plan_listed.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/shardings/device_assignment.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/onnx_meshes.h"
#include "passes/shardings/factors.h"
#include "passes/shardings/plan_writers.h"
#include "passes/splits/place_on_mesh.h"

namespace tap::passes {

using namespace ir;
using ir::onnx::Placed;

namespace {

// By block of that axis, the devices of all its shards.
DeviceSets sets_along(const Placed& placed, std::size_t axis) {
  const std::int64_t count = ir::onnx::shards_of(placed.axes[axis]);
  std::int64_t minor = 1;
  for (std::size_t a = axis + 1; a < placed.axes.size(); ++a) minor *= ir::onnx::shards_of(placed.axes[a]);
  DeviceSets sets(static_cast<std::size_t>(count));
  for (std::size_t s = 0; s < placed.shards.size(); ++s) {
    auto& set = sets[static_cast<std::size_t>(static_cast<std::int64_t>(s) / minor % count)];
    set.insert(set.end(), placed.shards[s].begin(), placed.shards[s].end());
  }
  for (auto& set : sets) std::sort(set.begin(), set.end());
  return sets;
}

PlannedSplit over(DeviceSets devices) {
  PlannedSplit split;
  split.blocks = Blocks{static_cast<std::int64_t>(devices.size())};
  split.placement = Placement::devices;
  split.devices = std::move(devices);
  return split;
}

PlannedSplit all_over(const std::string& operation, const Placed& placed) {
  PlannedSplit split = over({placed.shards.front()});
  split.operation = operation;
  split.all_at = 0;
  split.blocks = Blocks{};
  return split;
}

class ListedPlanner {
 public:
  ListedPlanner(const Program& program, const Graph& graph, const std::vector<std::string>& names,
                const ListedValues& listed)
      : program_(program), graph_(graph), names_(names), listed_(listed) {
    for (const Value& value : graph.values) on_meshes_.push_back(placed_by_mesh(value.sharding, value.type.shape));
  }

  std::vector<ListedLines> run() {
    std::vector<std::vector<OperationId>> writers(graph_.values.size());
    for (std::size_t o = 0; o < graph_.operations.size(); ++o)
      for (ValueId v : graph_.operations[o].results) writers[v.index()].emplace_back(o);
    for (std::size_t o = 0; o < graph_.operations.size(); ++o) {
      const Operation& operation = graph_.operations[o];
      if (operation.results.empty() || writers[operation.results[0].index()].front() != OperationId(o)) continue;
      const std::vector<OperationId>& together = writers[operation.results[0].index()];
      if (std::none_of(together.begin(), together.end(), [this](OperationId w) { return is_listed(w); })) continue;
      ListedLines lines = together.size() > 1 ? of_writers(operation.results[0], together) : of_one(OperationId(o));
      if (!lines.splits.empty() || !lines.why_not.empty()) out_.push_back(std::move(lines));
    }
    return std::move(out_);
  }

 private:
  // One of its tensors is on devices that no mesh expresses: then all of them are listed.
  bool is_listed(OperationId o) const {
    auto is_listed = [this](ValueId v) { return listed_.values[v.index()].has_value(); };
    const Operation& operation = graph_[o];
    const auto& own = listed_.operands[o.index()];
    return std::any_of(operation.results.begin(), operation.results.end(), is_listed) ||
           std::any_of(operation.operands.begin(), operation.operands.end(), is_listed) ||
           std::any_of(own.begin(), own.end(), [](const auto& placed) { return placed.has_value(); });
  }
  std::optional<Placed> placed_by_mesh(const std::optional<Sharding>& sharding, const Shape& shape) const {
    if (!sharding) return std::nullopt;
    auto placed = ir::onnx::placed_of(program_[sharding->mesh], *sharding, shape);
    auto* found = std::get_if<Placed>(&placed);
    return found && can_be_listed(*found) ? std::optional(std::move(*found)) : std::nullopt;
  }
  std::optional<Placed> value(ValueId v) const {
    return listed_.values[v.index()] ? listed_.values[v.index()] : on_meshes_[v.index()];
  }
  std::optional<Placed> operand(OperationId o, std::size_t k) const {
    const Operation& operation = graph_[o];
    if (const auto& own = listed_.operands[o.index()][k]) return own;
    if (k < operation.operand_shardings.size() && operation.operand_shardings[k])
      return placed_by_mesh(operation.operand_shardings[k], graph_[operation.operands[k]].type.shape);
    return value(operation.operands[k]);
  }

  ListedLines of_writers(ValueId v, const std::vector<OperationId>& writers) const {
    ListedLines lines{graph_[v].name, writers, {}, {}, {}};
    const std::optional<Placed> placed = value(v);
    if (!placed) return lines;
    if (placed->shards.size() == 1) {
      for (OperationId o : writers) lines.splits.push_back(all_over(names_[o.index()], *placed));
      return lines;
    }
    std::vector<AxisSplit> splits;
    for (std::size_t a = 0; a < placed->axes.size(); ++a)
      if (std::int64_t count = ir::onnx::shards_of(placed->axes[a]); count > 1)
        splits.push_back({a, Blocks{count}, over(sets_along(*placed, a))});
    WritersPlan plan = plan_of_writers(program_, graph_, names_, v, splits);
    lines.splits = std::move(plan.splits);
    lines.why_not = std::move(plan.why_not);
    lines.target = "devices " + ir::to_string(DeviceSets(placed->shards));
    return lines;
  }

  // The dims of its results first, so that they also split partials; then the reduced dims; then the whole combination.
  // If the results are on fewer devices than the partials, these are split separately.
  ListedLines of_one(OperationId o) const {
    const Operation& operation = graph_[o];
    const Operator op = with_author_names(program_, operation);
    ListedLines lines{graph_[operation.results[0]].name, {o}, {}, {}, {}};
    if (op.region() && op.region()->kind != RegionKind::group) return lines;
    const Factors factors = factors_of(op);
    Sets results, operands;
    for (const TensorFactors& result : factors.results)
      if (const auto placed = value(operation.results[result.tensor])) add_sets(factors, result, *placed, results);
    for (const TensorFactors& read : factors.operands)
      if (const auto placed = operand(o, read.tensor)) add_sets(factors, read, *placed, operands);
    auto line = [&](const std::string& name, std::uint32_t dim, const DeviceSets& devices) {
      PlannedSplit split = over(devices);
      split.operation = name;
      split.dim = plan_dim_name(op, dim);
      return split;
    };
    std::vector<PlannedSplit> reduced, partial;
    for (const auto& [dim, devices] : operands) {
      if (op.dims[dim].role == DimRole::reduction) reduced.push_back(line(names_[o.index()], dim, devices));
      else if (results.contains(dim) && results.at(dim) != devices)
        partial.push_back(line(names_[o.index()] + ".partial", dim, devices));
    }
    if (reduced.empty()) partial.clear();
    if (!partial.empty()) std::swap(lines.splits, reduced);
    lines.splits.insert(lines.splits.end(), partial.begin(), partial.end());
    for (const auto& [dim, devices] : results) lines.splits.push_back(line(names_[o.index()], dim, devices));
    lines.splits.insert(lines.splits.end(), reduced.begin(), reduced.end());
    const std::optional<Placed> result = value(operation.results[0]);
    if (result && result->shards.size() == 1) lines.splits.push_back(all_over(names_[o.index()], *result));
    return lines;
  }

  using Sets = std::map<std::uint32_t, DeviceSets>;  // by dim, the devices of its blocks
  static void add_sets(const Factors& factors, const TensorFactors& tensor, const Placed& placed, Sets& sets) {
    for (std::size_t a = 0; a < tensor.axes.size(); ++a) {
      if (ir::onnx::shards_of(placed.axes[a]) == 1 || tensor.axes[a].factors.empty()) continue;
      const std::optional<std::uint32_t> dim = factors.factors[tensor.axes[a].factors.front()].dim;
      if (dim) sets.try_emplace(*dim, sets_along(placed, a));
    }
  }

  const Program& program_;
  const Graph& graph_;
  const std::vector<std::string>& names_;
  const ListedValues& listed_;
  std::vector<std::optional<Placed>> on_meshes_;  // by value
  std::vector<ListedLines> out_;
};

}  // namespace

bool can_be_listed(const Placed& placed) {
  if (placed.is_unsharded()) return false;
  for (const ir::onnx::Parts& parts : placed.axes)
    if (parts.size() > 1) return false;
  std::set<std::int64_t> seen;
  for (const ir::onnx::Devices& devices : placed.shards)
    for (std::int64_t device : devices)
      if (!seen.insert(device).second) return false;
  return true;
}

DeviceSets devices_along(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  std::int64_t blocks = 1;
  for (const AxisRef& axis : axes) blocks *= size_of(mesh, axis);
  DeviceSets sets(static_cast<std::size_t>(blocks));
  for (std::int64_t index = 0; index < device_count(mesh); ++index) {
    const std::vector<std::int64_t> position = position_of(mesh, index);
    std::int64_t block = 0;
    for (const AxisRef& axis : axes) block = block * size_of(mesh, axis) + coordinate(mesh, position, axis);
    sets[static_cast<std::size_t>(block)].push_back(device_at(mesh, index));
  }
  for (auto& set : sets) std::sort(set.begin(), set.end());
  return sets;
}

PlannedSplit listed(PlannedSplit split, const Program& program) {
  const MeshAxisRef ref = named_axis(program, split).value();
  DeviceSets sets = devices_along(program[ref.mesh], {ref.axis});
  split.placement = Placement::devices;
  split.devices = std::move(sets);
  split.mesh.clear();
  split.axis.reset();
  return split;
}

std::vector<ListedLines> plan_of_listed(const Program& program, const Graph& graph,
                                        const std::vector<std::string>& names, const ListedValues& listed) {
  if (listed.values.empty()) return {};
  return ListedPlanner(program, graph, names, listed).run();
}

}  // namespace tap::passes
