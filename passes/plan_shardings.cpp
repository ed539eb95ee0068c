#include "passes/plan_shardings.h"

#include <algorithm>
#include <set>

#include "ir/axis_algebra.h"
#include "ir/mesh_position.h"
#include "ir/operation_names.h"
#include "ir/sharded_boxes.h"
#include "passes/cut.h"

namespace tap::passes {

using namespace ir;

namespace {

std::string dim_name(const Operator& op, std::uint32_t dim) {
  const std::string& name = op.dims[dim].name;
  return find_dim(op, name) == dim ? name : "#" + std::to_string(dim);
}

bool is_region(const Program& program, const Operation& operation, RegionKind kind) {
  const RegionBody* region = program[operation.op].region();
  return region && region->kind == kind;
}

// The splits that the factors of sites ask for.
class Planner {
 public:
  Planner(const Program& program, const Plan& but) : program_(program) {
    OperationFinder finder(program);
    for (const Decision& decision : but.decisions)
      if (auto* split = std::get_if<PlannedSplit>(&decision))
        if (auto place = finder.find(program.main, split->operation)) decided_.emplace(place->graph, place->operation);
  }

  ShardedPlan plan() && {
    for (const auto& [id, path] : graph_paths(program_)) {
      if (is_inside_of_a_group(program_, id)) continue;
      const Graph& graph = program_[id];
      std::vector<std::string> names = operation_names(graph);
      for (std::string& name : names) name = path + name;
      for (const SiteShardings& site : explicit_shardings(program_, graph))
        if (!site.mesh.empty() && !decided_.contains({id, site.site.operations.front()}))
          add_splits(graph, names, site);
      for (std::uint32_t o = 0; o < names.size(); ++o)
        if (is_region(program_, graph[OperationId(o)], RegionKind::group) && !decided_.contains({id, OperationId(o)}))
          add_splits_of_group(graph, names[o], graph[OperationId(o)]);
    }
    return std::move(out_);
  }

 private:
  void add_splits(const Graph& graph, const std::vector<std::string>& names, const SiteShardings& site) {
    const Mesh* mesh = find_mesh(program_, site.mesh);
    if (!mesh || is_maximal(*mesh)) return;
    OperationId o = site.site.operations.front();
    if (site.site.operations.size() > 1) return leave_whole(graph, *mesh, site.site);
    const Operator op = in_own_words(program_, graph[o]);
    for (std::size_t f = 0; f < site.factors.size(); ++f) {
      const std::optional<std::uint32_t> dim = site.site.factors.factors[f].dim;
      for (const AxisRef& axis : dim ? site.factors[f] : Axes{})
        add_split(*mesh, {.operation = names[o.index()], .dim = dim_name(op, *dim)}, axis);
    }
    for (std::size_t r = 0; r < site.results.size(); ++r) scatter(graph, names[o.index()], op, *mesh, site, r);
  }

  // Partials that are combined, each device only the blocks that it is to hold: the operation is then what combines them.
  void scatter(const Graph& graph, const std::string& name, const Operator& op, const Mesh& mesh,
               const SiteShardings& site, std::size_t result) {
    const std::optional<Sharding>& wanted = graph[site.site.results[result]].sharding;
    const Sharding& computed = site.results[result];
    if (!wanted || wanted->mesh != mesh.name || computed.unreduced.empty()) return;
    const std::vector<AxisFactors>& walks = site.site.factors.results[result].axes;
    for (std::size_t a = 0; a < walks.size(); ++a) {
      const Axes &own = computed.dims[a].axes, &all = wanted->dims[a].axes;
      if (walks[a].factors.empty() || !is_prefix(mesh, own, all)) continue;
      const std::optional<std::uint32_t> dim = site.site.factors.factors[walks[a].factors.front()].dim;
      for (const AxisRef& axis : behind(mesh, own, all)) {
        auto has_axis = [&](const AxisRef& partials) { return contains(mesh, partials, axis); };
        if (!dim || !std::any_of(computed.unreduced.begin(), computed.unreduced.end(), has_axis)) break;
        add_split(mesh, {.operation = name, .dim = dim_name(op, *dim)}, axis);
      }
    }
  }

  void leave_whole(const Graph& graph, const Mesh& mesh, const Site& site) {
    for (ValueId v : site.results) {
      const std::optional<Sharding>& sharding = graph[v].sharding;
      if (!sharding || sharding->mesh != mesh.name) continue;
      for (std::size_t a = 0; a < sharding->dims.size(); ++a)
        for (const AxisRef& axis : sharding->dims[a].axes)
          if (size_of(mesh, axis) > 1)
            out_.left.push_back({graph[v].name, "axis " + std::to_string(a), axis,
                                 "several operations write this value together, and none of them a box of it"});
    }
  }

  // A group is cut as its first sharded result is: what it computes on the way is not seen from here.
  void add_splits_of_group(const Graph& graph, const std::string& name, const Operation& operation) {
    const Operator op = in_own_words(program_, operation);
    const Factors factors = factors_of(op);
    for (const TensorFactors& result : factors.results) {
      const std::optional<Sharding>& sharding = graph[operation.results[result.tensor]].sharding;
      const Mesh* mesh = sharding ? find_mesh(program_, sharding->mesh) : nullptr;
      if (!mesh || is_maximal(*mesh)) continue;
      for (std::size_t a = 0; a < result.axes.size(); ++a) {
        const std::vector<std::uint32_t>& walks = result.axes[a].factors;
        const std::optional<std::uint32_t> dim = walks.empty() ? std::nullopt : factors.factors[walks.front()].dim;
        for (const AxisRef& axis : sharding->dims[a].axes)
          if (dim) add_split(*mesh, {.operation = name, .dim = dim_name(op, *dim)}, axis);
      }
      return;
    }
  }

  void add_split(const Mesh& mesh, PlannedSplit split, const AxisRef& axis) {
    split.blocks = Blocks{size_of(mesh, axis)};
    if (split.blocks.count == 1) return;
    split.placement = Placement::mesh_axis;
    split.mesh = mesh.name;
    split.axis = axis;
    out_.plan.decisions.push_back(std::move(split));
  }

  const Program& program_;
  std::set<std::pair<GraphId, OperationId>> decided_;
  ShardedPlan out_;
};

}  // namespace

std::string to_string(const LeftWhole& left) {
  return "`" + left.dim + "` of `" + left.operation + "` is not cut over `" + to_string(left.axis) + "`: " + left.why;
}

bool has_shardings(const Program& program) {
  auto given = [](const std::optional<Sharding>& sharding) { return sharding.has_value(); };
  auto has_one = [&](const Graph& graph) {
    return std::any_of(graph.values.begin(), graph.values.end(), [&](auto& value) { return given(value.sharding); }) ||
           std::any_of(graph.operations.begin(), graph.operations.end(), [&](const Operation& operation) {
             return std::any_of(operation.operand_shardings.begin(), operation.operand_shardings.end(), given);
           });
  };
  return std::any_of(program.graphs.begin(), program.graphs.end(), has_one);
}

bool has_calls(const Program& program) {
  for (const auto& [id, path] : graph_paths(program))
    for (const Operation& operation : program[id].operations)
      if (is_region(program, operation, RegionKind::call)) return true;
  return false;
}

ShardedPlan plan_of_shardings(const Program& program, const Caution& caution, const Plan& but) {
  ShardedPlan out = Planner(program, but).plan();
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
