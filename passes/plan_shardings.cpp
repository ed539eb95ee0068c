#include "passes/plan_shardings.h"

#include <algorithm>
#include <set>

#include "ir/mesh_position.h"
#include "ir/operation_names.h"
#include "ir/sharded_boxes.h"

namespace tap::passes {

using namespace ir;

namespace {

std::string dim_name(const Operator& op, std::uint32_t dim) {
  const std::string& name = op.dims[dim].name;
  return find_dim(op, name) == dim ? name : "#" + std::to_string(dim);
}

// The splits that one site's factors ask for.
void add_splits(const Program& program, const Graph& graph, const std::string& path,
                const std::vector<std::string>& names, const SiteShardings& site, Plan& plan) {
  const Mesh* mesh = find_mesh(program, site.mesh);
  if (!mesh || is_maximal(*mesh)) return;
  // Operations that write one value together hold no box of it each.
  if (site.site.operations.size() > 1) return;
  OperationId o = site.site.operations.front();
  const Operator op = in_own_words(program, graph[o]);
  for (std::size_t f = 0; f < site.factors.size(); ++f) {
    std::optional<std::uint32_t> dim = site.site.factors.factors[f].dim;
    for (const AxisRef& axis : dim ? site.factors[f] : Axes{}) {
      PlannedSplit split{.operation = path + names[o.index()], .dim = dim_name(op, *dim)};
      split.blocks = Blocks{size_of(*mesh, axis)};
      split.placement = Placement::mesh_axis;
      split.mesh = mesh->name;
      split.axis = axis;
      if (split.blocks.count > 1) plan.decisions.push_back(std::move(split));
    }
  }
}

}  // namespace

ShardedPlan plan_of_shardings(const Program& program, const Caution& caution) {
  ShardedPlan out;
  for (const auto& [id, path] : graph_paths(program)) {
    const Graph& graph = program[id];
    std::vector<std::string> names = operation_names(graph);
    for (const SiteShardings& site : explicit_shardings(program, graph))
      if (!site.mesh.empty()) add_splits(program, graph, path, names, site, out.plan);
  }
  // What cannot be cut is left whole, until all that is left can be.
  for (;;) {
    SplitResult tried = apply_splits(program, out.plan, caution);
    if (tried.problems.empty()) return out;
    std::set<std::size_t> refused;
    for (const PlanProblem& problem : tried.problems) {
      if (!refused.insert(problem.decision).second) continue;
      const auto& split = std::get<PlannedSplit>(out.plan.decisions[problem.decision]);
      out.left.push_back({split.operation, split.dim, *split.axis, problem.message});
    }
    Plan rest;
    for (std::size_t k = 0; k < out.plan.decisions.size(); ++k)
      if (!refused.contains(k)) rest.decisions.push_back(std::move(out.plan.decisions[k]));
    out.plan = std::move(rest);
  }
}

}  // namespace tap::passes
