#include "passes/shardings/planned_shardings.h"

#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/text/plan_text.h"
#include "passes/named_operator.h"
#include "passes/splits/divided_inputs.h"
#include "passes/splits/requested_splits.h"
#include "passes/splits/split_operator.h"

namespace tap::passes {

using namespace ir;

namespace {

struct AxisOfMesh {
  MeshId mesh;
  AxisRef axis;
};
// Partials over the axis are combined in blocks of the factor.
struct PartOfCombination {
  std::uint32_t factor = 0;
  AxisRef over;
};

std::int64_t blocks_of(const PlannedSplit& split) {
  return split.blocks.boundaries.empty() ? split.blocks.count
                                         : static_cast<std::int64_t>(split.blocks.boundaries.size()) - 1;
}

void add_once(Axes& axes, const AxisRef& axis) {
  if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
}

class PlanReader {
 public:
  PlanReader(Program program, const Plan& plan) : plan_(plan), table_(out_.program), named_(out_.program) {
    out_.program = std::move(program);
    for (const Mesh& mesh : plan.meshes)
      if (!find_mesh(out_.program.meshes, mesh.name)) out_.program.meshes.push_back(mesh);
    const std::vector<Value> given = out_.program[out_.program.main].values;
    for (Graph& graph : out_.program.graphs) {
      for (Value& value : graph.values) value.sharding.reset();
      for (Operation& operation : graph.operations) operation.operand_shardings.clear();
    }
    for (ValueId v : out_.program[out_.program.main].inputs)
      value_in(out_.program.main, v).sharding = given[v.index()].sharding;
    sort_lines();
  }

  PlannedShardings read() && {
    if (!mesh_.valid()) return std::move(out_);
    const auto paths = graph_paths(out_.program);
    for (const auto& [id, path] : paths)
      if (!is_inside_of_a_group(out_.program, id)) add_sites(id);
    // The results of inner iterates first. What trips only read is whole on every device.
    for (auto at = paths.rbegin(); at != paths.rend(); ++at) each_iterate(at->first, &PlanReader::hold_states);
    return std::move(out_);
  }

 private:
  using Place = std::pair<GraphId, OperationId>;

  void not_shown(std::size_t line) { out_.not_shown.push_back(decision_text(plan_.decisions[line])); }

  void sort_lines() {
    OperationFinder finder(out_.program);
    for (std::size_t d = 0; d < plan_.decisions.size(); ++d) {
      const auto* split = std::get_if<PlannedSplit>(&plan_.decisions[d]);
      if (!split || (!split->axis && split->devices.empty())) continue;  // of loops and threads
      const std::optional<AxisOfMesh> over = axis_of(*split);
      if (over && !mesh_.valid()) mesh_ = over->mesh;
      if (const std::string* input = divided_input(out_.program, plan_.decisions[d])) {
        if (!over || !divide_input(*input, *split, *over)) not_shown(d);
      } else if (auto found = finder.find(out_.program.main, split->operation)) {
        lines_[{found->graph, found->operation}].push_back(d);
      } else if (auto whole = finder.find(out_.program.main, before_partials(split->operation))) {
        lines_of_partials_[{whole->graph, whole->operation}].push_back(d);
      }
    }
  }

  // Nothing for a line that does not give each position of an axis one block.
  std::optional<AxisOfMesh> axis_of(const PlannedSplit& split) const {
    if (!split.axis || split.all_at) return std::nullopt;
    const std::vector<Mesh>& meshes = out_.program.meshes;
    const auto mesh = split.mesh.empty() ? sole_mesh_with(meshes, split.axis->name) : find_mesh(meshes, split.mesh);
    const auto axis = mesh ? find_axis(out_.program[*mesh], split.axis->name) : std::nullopt;
    if (!axis) return std::nullopt;
    const AxisRef whole{*axis, split.axis->sub};
    if (blocks_of(split) != size_of(out_.program[*mesh], Axes{whole})) return std::nullopt;
    return {{*mesh, whole}};
  }

  static Sharding undivided(MeshId mesh, const Value& value) {
    return {mesh, std::vector<DimSharding>(value.type.shape.size()), {}, {}, ""};
  }

  bool divide_input(const std::string& name, const PlannedSplit& split, const AxisOfMesh& over) {
    for (ValueId v : out_.program[out_.program.main].inputs) {
      Value& value = value_in(out_.program.main, v);
      const auto axis = axis_of_dim(split.dim);
      if (value.name != name || !axis || *axis >= value.type.shape.size()) continue;
      if (out_.divided.insert(v).second) value.sharding = undivided(over.mesh, value);
      if (value.sharding->mesh != over.mesh) return false;
      append(out_.program[over.mesh], value.sharding->dims[*axis].axes, over.axis);
      return true;
    }
    return false;
  }

  void add_sites(GraphId id) {
    const Graph& graph = out_.program[id];
    std::vector<Site> sites = sites_of(out_.program, graph, table_);
    for (std::uint32_t o = 0; o < graph.operations.size(); ++o)
      if (const RegionBody* region = out_.program[graph[OperationId(o)].op].region();
          region && region->kind == RegionKind::group)
        sites.push_back(site_of(out_.program, graph, OperationId(o), table_));
    std::ranges::stable_sort(sites, {}, [](const Site& site) { return site.operations.front(); });
    for (Site& site : sites) add_site(id, std::move(site));
  }

  // Lines that follow one of a reduced dim are about the combination of its partials.
  void add_site(GraphId id, Site site) {
    MeshId mesh;
    std::vector<Axes> factors(site.factors.factors.size());
    std::vector<PartOfCombination> parts;
    Axes partials;
    bool in_rounds = false;
    for (OperationId o : site.operations)
      for (std::size_t line : lines_[{id, o}]) {
        const auto& split = std::get<PlannedSplit>(plan_.decisions[line]);
        const std::optional<AxisOfMesh> over = axis_of(split);
        const std::optional<std::uint32_t> dim = dim_of(id, o, split);
        if (!dim && over && overlap(out_.program[over->mesh], partials, {over->axis})) {
          in_rounds = true;
          continue;
        }
        const std::optional<std::uint32_t> factor = dim ? factor_of(id, site, o, *dim) : std::nullopt;
        const bool is_listed = !split.blocks.boundaries.empty() && site.operations.size() == 1;
        if (!over || !factor || is_listed || (dim && has_own_blocks(id, site, o, *dim, split)) ||
            (mesh.valid() && mesh != over->mesh)) {
          not_shown(line);
          continue;
        }
        mesh = over->mesh;
        const bool is_reduced = site.factors.factors[*factor].kind == FactorKind::reduction;
        if (!partials.empty() && !is_reduced) parts.push_back({*factor, over->axis});
        else add_once(factors[*factor], over->axis);
        if (is_reduced) partials.push_back(over->axis);
      }
    if (!mesh.valid()) mesh = mesh_;
    SiteShardings made = site_with_axes(out_.program, out_.program[id], std::move(site), mesh, std::move(factors));
    const Operation& first = out_.program[id][made.site.operations.front()];
    made.copy = made.site.operations.size() == 1 && is_identity(out_.program[first.op]);
    made.combined_alone = !in_rounds;
    hold_results(id, made, parts);
    for (OperationId o : made.site.operations)
      for (std::size_t line : lines_of_partials_[{id, o}]) {
        const std::optional<AxisOfMesh> over = axis_of(std::get<PlannedSplit>(plan_.decisions[line]));
        auto is_over = [&](const PartOfCombination& part) { return over && part.over == over->axis; };
        if (std::ranges::none_of(parts, is_over)) not_shown(line);
      }
    out_.sites[id].push_back(std::move(made));
  }

  std::optional<std::uint32_t> dim_of(GraphId id, OperationId o, const PlannedSplit& split) {
    const Graph& graph = out_.program[id];
    return find_dim(named_.of(graph[o]), named_dim(out_.program, graph[o], graph, split));
  }

  // Of one of several writers: equal blocks of its part of the value, not of the value.
  bool has_own_blocks(GraphId id, const Site& site, OperationId o, std::uint32_t dim, const PlannedSplit& split) const {
    if (site.operations.size() == 1 || !split.blocks.boundaries.empty()) return false;
    const Graph& graph = out_.program[id];
    const Operator& op = out_.program[graph[o].op];
    for (const Access& write : op.writes)
      for (std::size_t axis = 0; axis < write.projection.rank(); ++axis)
        if (write.projection.start.rows[axis].coefficients[dim] != 0 &&
            op.dims[dim].range.size() != graph[graph[o].results[write.tensor]].type.shape[axis])
          return true;
    return false;
  }

  // Several writers of one value are divided like the value, each along a dim of its own.
  std::optional<std::uint32_t> factor_of(GraphId id, const Site& site, OperationId o, std::uint32_t dim) {
    auto is_of_dim = [&](const Factor& factor) { return factor.dim == dim; };
    if (site.operations.size() == 1) {
      const auto found = std::ranges::find_if(site.factors.factors, is_of_dim);
      if (found == site.factors.factors.end()) return std::nullopt;
      return static_cast<std::uint32_t>(found - site.factors.factors.begin());
    }
    const Operation& writer = out_.program[id][o];
    const Factors& own = table_[writer.op];
    for (const TensorFactors& written : own.results) {
      const auto result = std::ranges::find(site.results, writer.results[written.tensor]) - site.results.begin();
      for (std::size_t a = 0; a < written.axes.size(); ++a)
        for (std::uint32_t f : written.axes[a].factors)
          if (is_of_dim(own.factors[f]))
            return site.factors.results[static_cast<std::size_t>(result)].axes[a].factors.front();
    }
    return std::nullopt;
  }

  // Partials that no line divides further are combined everywhere.
  void hold_results(GraphId id, const SiteShardings& site, const std::vector<PartOfCombination>& parts) {
    const Mesh& mesh = out_.program[site.mesh];
    std::vector<Value>& values = out_.program.graphs[id.index()].values;
    for (std::size_t r = 0; r < site.results.size(); ++r) {
      Sharding held = site.results[r];
      held.unreduced.clear();
      held.unreduced_monoid.clear();
      for (const PartOfCombination& part : parts)
        for (std::size_t a = 0; a < held.dims.size(); ++a) {
          const std::vector<std::uint32_t>& along = site.site.factors.results[r].axes[a].factors;
          if (!along.empty() && along.front() == part.factor) append(mesh, held.dims[a].axes, part.over);
        }
      values[site.site.results[r].index()].sharding = std::move(held);
    }
  }

  void each_iterate(GraphId id, void (PlanReader::*visit)(GraphId, OperationId, GraphId)) {
    for (std::uint32_t o = 0; o < out_.program[id].operations.size(); ++o) {
      const RegionBody* region = out_.program[out_.program[id][OperationId(o)].op].region();
      if (region && region->kind == RegionKind::iterate) (this->*visit)(id, OperationId(o), region->graph);
    }
  }
  Value& value_in(GraphId id, ValueId v) { return out_.program.graphs[id.index()].values[v.index()]; }

  // A state is held as a trip leaves it.
  void hold_states(GraphId id, OperationId o, GraphId body) {
    const std::vector<ValueId> left = out_.program[body].outputs, results = out_.program[id][o].results;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const std::optional<Sharding> held = value_in(body, left[k]).sharding;
      value_in(body, out_.program[body].inputs[k]).sharding = held;
      value_in(id, results[k]).sharding = held;
    }
  }
  const Plan& plan_;
  PlannedShardings out_;
  FactorTable table_;
  NamedOperators named_;
  MeshId mesh_;  // of the first line: that of operations without lines
  std::map<Place, std::vector<std::size_t>> lines_, lines_of_partials_;
};

}  // namespace

PlannedShardings shardings_of_plan(Program program, const Plan& plan) {
  return PlanReader(std::move(program), plan).read();
}

}  // namespace tap::passes
