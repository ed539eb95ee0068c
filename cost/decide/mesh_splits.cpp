#include "cost/decide/mesh_splits.h"

#include <algorithm>
#include <set>

#include "ir/graphs/operation_names.h"
#include "passes/fusion/group_dims.h"
#include "passes/shardings/follow_shardings.h"
#include "passes/splits/divided_inputs.h"
#include "passes/splits/requested_splits.h"

namespace tap::cost {

using namespace ir;

namespace {

bool same_blocks(const PlannedSplit& a, const PlannedSplit& b) {
  return a.axis == b.axis && a.mesh == b.mesh && a.blocks == b.blocks;
}

// How many earlier splits divide the same dim.
std::size_t nth_along(const std::vector<MeshSplit>& splits, std::uint32_t dim, std::size_t before) {
  return static_cast<std::size_t>(std::count_if(splits.begin(), splits.begin() + static_cast<std::ptrdiff_t>(before),
                                                [&](const MeshSplit& s) { return s.dim == dim; }));
}

bool same_at(const std::vector<MeshSplit>& splits, std::uint32_t dim, std::size_t nested, const PlannedSplit& line) {
  for (const MeshSplit& split : splits)
    if (split.dim == dim && nested-- == 0) return same_blocks(split.line, line);
  return false;
}

const std::vector<MeshSplit>& of(const SplitsOfGraph& splits, OperationId operation) {
  static const std::vector<MeshSplit> none;
  auto found = splits.find(operation);
  return found == splits.end() ? none : found->second;
}

}  // namespace

bool is_over_mesh(const Decision& decision) {
  auto* split = std::get_if<PlannedSplit>(&decision);
  return split && split->axis && !split->all_at;
}

std::optional<std::vector<SplitsOfGraph>> mesh_splits(const Program& program, const passes::PassContext& context) {
  const passes::PassResult followed = passes::follow_shardings(program, context);
  for (const Diagnostic& diagnostic : followed.diagnostics)
    if (diagnostic.severity() == Severity::error) return std::nullopt;
  std::vector<SplitsOfGraph> splits(program.graphs.size());
  OperationFinder finder(program);
  for (const Decision& decision : followed.decided->decisions) {
    if (!is_over_mesh(decision) || passes::divided_input(program, decision)) continue;
    PlannedSplit line = std::get<PlannedSplit>(decision);
    const auto location = finder.find(program.main, line.operation);
    if (!location && finder.find(program.main, before_partials(line.operation))) continue;  // how partials are combined
    if (!location) return std::nullopt;
    const Graph& graph = program[location->graph];
    const Operation& operation = graph[location->operation];
    line.dim = passes::named_dim(program, operation, graph, line);
    const auto dim = find_dim(with_author_names(program, operation), line.dim);
    if (!dim) return std::nullopt;
    splits[location->graph.index()][location->operation].push_back({*dim, std::move(line)});
  }
  return splits;
}

bool has_partials(const Operator& op, const std::vector<MeshSplit>& splits) {
  return std::any_of(splits.begin(), splits.end(),
                     [&](const MeshSplit& split) { return op.dims[split.dim].role != DimRole::parallel; });
}

std::optional<std::vector<MeshSplit>> splits_of_group(const Program& program, const Graph& graph,
                                                      const SplitsOfGraph& splits,
                                                      const std::vector<OperationId>& operations,
                                                      const std::vector<std::uint32_t>& over) {
  if (splits.empty()) return std::vector<MeshSplit>();
  std::vector<MeshSplit> own = of(splits, operations.back());
  for (const MeshSplit& split : own)
    if (std::find(over.begin(), over.end(), split.dim) == over.end()) return std::nullopt;
  std::vector<Operation> members;
  for (OperationId o : operations) members.push_back(graph[o]);
  const passes::SharedDims shared = passes::shared_dims(program, graph, members, members.size() - 1, over);
  for (std::size_t k = 0; k < operations.size(); ++k) {
    const std::vector<MeshSplit>& inner = of(splits, operations[k]);
    if (has_partials(program[graph[operations[k]].op], inner)) return std::nullopt;
    for (std::size_t s = 0; s < inner.size(); ++s) {
      // The first blocks along a dim, before those of other axes within them.
      const auto dim = shared[k][inner[s].dim];
      const auto nested = nth_along(inner, inner[s].dim, s);
      if (!dim || !same_at(own, over[*dim], nested, inner[s].line)) return std::nullopt;
    }
  }
  return own;
}

Plan without_inner_splits(Plan plan) {
  std::set<std::string> inside;
  for (const Decision& decision : plan.decisions)
    if (auto* fusion = std::get_if<PlannedFusion>(&decision))
      inside.insert(fusion->operations.begin(), fusion->operations.end() - 1);
  std::erase_if(plan.decisions, [&](const Decision& decision) {
    return is_over_mesh(decision) && inside.count(std::get<PlannedSplit>(decision).operation) > 0;
  });
  return plan;
}

}  // namespace tap::cost
