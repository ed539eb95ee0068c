#include "passes/splits/requested_splits.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/author_names.h"
#include "ir/graphs/graph_algorithms.h"
#include "ir/graphs/operation_names.h"
#include "ir/text/plan_text.h"
#include "ir/text_names.h"
#include "passes/named_operator.h"

namespace tap::passes {

using namespace ir;

namespace {

// The dim that alone determines that axis of the value.
std::optional<std::uint32_t> dim_of_axis(const Operator& op, const Operation& operation, ValueId value,
                                         std::uint32_t axis) {
  for (const Access& write : op.writes) {
    if (operation.results[write.tensor] != value || axis >= write.projection.rank()) continue;
    if (auto dim = write.projection.start.rows[axis].as_variable()) return static_cast<std::uint32_t>(*dim);
  }
  return std::nullopt;
}

}  // namespace

std::string named_dim(const Program& program, const Operation& operation, const Graph& graph,
                      const PlannedSplit& split) {
  auto axis = axis_of_dim(split.dim);
  if (!axis) return split.dim;
  std::string_view own = std::string_view(split.operation).substr(split.operation.rfind('/') + 1);
  ValueId value = operation.results.at(0);
  for (ValueId result : operation.results)
    if (graph[result].name == own) value = result;
  const Operator op = with_author_names(program, operation);
  auto dim = dim_of_axis(op, operation, value, *axis);
  if (!dim) return split.dim;
  const std::string& name = op.dims[*dim].name;
  return find_dim(op, name) == dim ? name : "#" + std::to_string(*dim);
}

Plan requested_splits(const Program& program) {
  Plan plan;
  for (const auto& [id, path] : graph_paths(program)) {
    const Graph& graph = program[id];
    std::vector<std::string> names = operation_names(graph);
    for (const SplitRequest& request : graph.splits) {
      const Operation& operation = graph[request.operation];
      const Operator op = with_author_names(program, operation);
      PlannedSplit split;
      split.operation = path + names[request.operation.index()];
      split.dim = request.dim;
      if (request.value)
        if (auto dim = dim_of_axis(op, operation, *request.value, request.axis)) split.dim = op.dims[*dim].name;
      auto dim = find_dim(op, split.dim);
      if (dim) split.blocks = blocks_of(op.dims[*dim].range, request.blocks);
      split.placement = request.placement;
      if (request.mesh_axis) {
        split.mesh = program[request.mesh].name;
        split.axis = named(program[request.mesh], *request.mesh_axis);
      }
      plan.decisions.push_back(std::move(split));
    }
  }
  return plan;
}

Plan with_requested_splits(const Program& program, const Plan& plan) {
  Plan all = requested_splits(program);
  auto is_over_devices = [](const Decision& line) {
    auto* split = std::get_if<PlannedSplit>(&line);
    return split && (split->axis || split->placement == Placement::devices);
  };
  const auto local = std::stable_partition(all.decisions.begin(), all.decisions.end(), is_over_devices);
  std::set<std::string> divided;
  for (auto line = local; line != all.decisions.end(); ++line) divided.insert(std::get<PlannedSplit>(*line).operation);
  Plan first, others;
  for (const Decision& line : plan.decisions) {
    const bool before = is_over_devices(line) && divided.contains(std::get<PlannedSplit>(line).operation);
    (before ? first : others).decisions.push_back(line);
  }
  all.decisions.insert(local, first.decisions.begin(), first.decisions.end());
  all.decisions.insert(all.decisions.end(), others.decisions.begin(), others.decisions.end());
  return all;
}

}  // namespace tap::passes
