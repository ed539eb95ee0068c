#include "passes/shardings/plan_shardings.h"

#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/device_assignment.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "passes/named_operator.h"
#include "passes/shardings/all_reduces.h"
#include "passes/shardings/plan_writers.h"
#include "passes/splits/place_on_mesh.h"
#include "passes/splits/split_operator.h"

namespace tap::passes {

using namespace ir;

namespace {

bool is_region(const Program& program, const Operation& operation, RegionKind kind) {
  const RegionBody* region = program[operation.op].region();
  return region && region->kind == kind;
}

// The splits for the factors of sites.
class Planner {
 public:
  // `chosen`: null if shardings of values decide.
  Planner(const Program& program, const Caution& caution, const Plan& but, const ListedValues& listed,
          const ChosenSites* chosen)
      : program_(program), named_(program), caution_(caution), listed_(listed), chosen_(chosen) {
    OperationFinder finder(program);
    for (const Decision& decision : but.decisions)
      if (auto* split = std::get_if<PlannedSplit>(&decision))
        if (auto found = finder.find(program.main, split->operation)) decided_.emplace(found->graph, found->operation);
    for (std::size_t g = 0; g < program.graphs.size(); ++g)  // existing splits were already decided
      for (std::size_t o = 0; o < program.graphs[g].operations.size(); ++o)
        if (!program[program.graphs[g].operations[o].op].blockings.empty())
          decided_.emplace(GraphId(g), OperationId(o));
  }

  ShardedPlan plan() && {
    for (const auto& [id, path] : graph_paths(program_)) {
      if (is_inside_of_a_group(program_, id)) continue;
      const Graph& graph = program_[id];
      std::vector<std::string> names = operation_names(graph);
      for (std::string& name : names) name.insert(0, path);
      if (id == program_.main) add_listed(graph, names);
      for (const SiteShardings& site : sites_in(id))
        if (site.mesh.valid() && is_free(id, site.site)) add_splits(graph, names, site);
      for (std::uint32_t o = 0; o < names.size() && !chosen_; ++o)  // chosen sites may be groups
        if (is_region(program_, graph[OperationId(o)], RegionKind::group) && !decided_.contains({id, OperationId(o)}))
          add_splits_of_group(graph, names[o], graph[OperationId(o)]);
    }
    return std::move(out_);
  }

 private:
  std::vector<SiteShardings> sites_in(GraphId graph) const {
    if (!chosen_) return explicit_shardings(program_, program_[graph]);
    auto found = chosen_->find(graph);
    return found == chosen_->end() ? std::vector<SiteShardings>{} : found->second;
  }

  bool is_free(GraphId graph, const Site& site) const {
    return std::none_of(site.operations.begin(), site.operations.end(), [&](OperationId o) {
      return decided_.contains({graph, o});
    });
  }

  void add_listed(const Graph& graph, const std::vector<std::string>& names) {
    for (ListedLines& lines : plan_of_listed(program_, graph, names, listed_)) {
      bool free = std::none_of(lines.operations.begin(), lines.operations.end(), [&](OperationId o) {
        return decided_.contains({program_.main, o});
      });
      for (OperationId o : lines.operations) decided_.emplace(program_.main, o);
      for (PlannedSplit& split : free ? lines.splits : std::vector<PlannedSplit>{})
        out_.plan.decisions.push_back(std::move(split));
      if (free && !lines.why_not.empty())
        out_.left.push_back({lines.value, "", lines.target, std::move(lines.why_not)});
    }
  }

  struct Slices {  // of a combination, over an axis of its partials
    std::uint32_t dim;
    AxisRef over;
  };

  void add_splits(const Graph& graph, const std::vector<std::string>& names, const SiteShardings& site) {
    if (is_maximal(program_[site.mesh])) return place_on_one(graph, names, site.mesh, site.site);
    OperationId o = site.site.operations.front();
    if (site.site.operations.size() > 1) return split_writers(graph, names, site.mesh, site.site);
    const Operator& op = named_.of(graph[o]);
    auto add = [&](std::uint32_t dim, const AxisRef& over) {
      add_split(site.mesh, {.operation = names[o.index()], .dim = plan_dim_name(op, dim)}, over);
    };
    auto [slices, in_rounds] = how_combined(graph, site);
    auto is_at_once = [&](const Slices& one) { return is_combined_at_once(op, site, program_[site.mesh], one.over); };
    const auto combined = std::stable_partition(slices.begin(), slices.end(), is_at_once);
    std::for_each(slices.begin(), combined, [&](const Slices& one) { add(one.dim, one.over); });
    for (std::size_t f = 0; f < site.factors.size(); ++f) {
      const std::optional<std::uint32_t> dim = site.site.factors.factors[f].dim;
      for (const AxisRef& axis : dim ? site.factors[f] : Axes{})
        if (std::none_of(slices.begin(), combined, [&](const Slices& one) { return one.over == axis; }))
          add(*dim, axis);
    }
    add_slices_of_partials(names[o.index()], op, site, {combined, slices.end()});
    std::for_each(combined, slices.end(), [&](const Slices& one) { add(one.dim, one.over); });
    for (std::size_t f = 0; f < site.factors.size(); ++f)
      for (const RoundsOver& one : in_rounds)
        if (site.factors[f] == Axes{one.over})
          add_rounds(names[o.index()], op, *site.site.factors.factors[f].dim, {site.mesh, one.over}, one.rounds);
  }

  // Partials along several axes are combined along the last one first: `Y.partial` is what remains for the axes before. Each device
  // combines only the slice of it that the axes from there on divide.
  //   Y[i] = sum[k] X[i, k], k over x and y, i over y and x     split Y.partial dim i into 2 over y
  void add_slices_of_partials(std::string name, const Operator& op, const SiteShardings& site,
                              const std::vector<Slices>& slices) {
    const Mesh& mesh = program_[site.mesh];
    Axes levels = axes_of_partials(site);
    std::erase_if(levels, [&](const AxisRef& axis) { return size_of(mesh, axis) == 1; });  // they split nothing
    for (std::size_t done = 1; done < levels.size(); ++done) {
      name += ".partial";
      const Axes rest(levels.begin() + static_cast<std::ptrdiff_t>(done), levels.end());
      for (const Slices& one : slices)
        if (overlap(mesh, rest, {one.over}))
          add_split(site.mesh, {.operation = name, .dim = plan_dim_name(op, one.dim)}, one.over);
    }
  }

  // The combination is split into those of groups, on all devices of each. The last round is the rest of it.
  void add_rounds(const std::string& name, const Operator& op, std::uint32_t dim, const MeshAxisRef& over,
                  const Rounds& rounds) {
    std::int64_t blocks = size_of(program_[over.mesh], over.axis);
    Operator combined = split_reduction(program_, op, dim, Blocks{blocks}).combination;
    for (std::size_t r = 0; r + 1 < rounds.size(); ++r) {
      blocks /= rounds[r];
      const auto last = static_cast<std::uint32_t>(combined.dims.size() - 1);
      const std::int64_t before = over.axis.sub ? over.axis.sub->pre_size : 1;
      add_split(over.mesh, {.operation = name, .dim = plan_dim_name(combined, last)},
                {over.axis.id, SubAxis{before, blocks}});
      combined = split_reduction(program_, combined, last, Blocks{blocks}).combination;
    }
  }

  // On a mesh of one device: an operation with such a sharding runs only there.
  void place_on_one(const Graph& graph, const std::vector<std::string>& names, MeshId mesh, const Site& site) {
    const std::optional<Sharding>& sharding = graph[site.results.front()].sharding;
    if (!sharding || sharding->mesh != mesh) return;
    for (OperationId o : site.operations) {
      PlannedSplit all{names[o.index()]};
      all.placement = Placement::devices;
      all.devices = {program_[mesh].devices};
      all.all_at = 0;
      out_.plan.decisions.push_back(std::move(all));
    }
  }

  // Partials are combined such that each device combines only a part: the blocks that it holds (a reduce-scatter), or
  // a slice that the readers gather (an all-reduce). These are splits of the combination. Small results are combined in
  // rounds instead.
  struct RoundsOver {
    Rounds rounds;
    AxisRef over;
  };
  struct Combined {
    std::vector<Slices> slices;
    std::vector<RoundsOver> in_rounds;
  };
  Combined how_combined(const Graph& graph, const SiteShardings& site) const {
    const Mesh& mesh = program_[site.mesh];
    Combined found;
    Axes left = used_partials(site);
    for (std::size_t r = 0; r < site.results.size() && !left.empty(); ++r) {
      const ValueId value = site.site.results[r];
      const std::optional<Sharding>& target = graph[value].sharding;
      if (target && target->mesh != site.mesh) continue;
      std::vector<std::int64_t> own = local_shape(mesh, site.results[r], graph[value].type.shape);
      auto take = [&](std::size_t axis, const AxisRef& over) {
        const std::optional<std::uint32_t> dim = dim_along(site.site.factors, r, axis);
        if (!dim) return false;
        found.slices.push_back({*dim, over});
        own[axis] = (own[axis] + size_of(mesh, over) - 1) / size_of(mesh, over);
        left = without(mesh, left, {over});
        return true;
      };
      for (std::size_t a = 0; a < own.size(); ++a) {
        const Axes &computed = site.results[r].dims[a].axes, all = target ? target->dims[a].axes : Axes{};
        if (!is_prefix(mesh, computed, all)) continue;
        for (const AxisRef& axis : suffix_after(mesh, computed, all)) {
          auto has_axis = [&](const AxisRef& partials) { return contains(mesh, partials, axis); };
          if (!std::any_of(left.begin(), left.end(), has_axis) || !take(a, axis)) break;
        }
      }
      // The last axis first, so that slices of slices are combined (add_slices_of_partials).
      const Axes free(left.rbegin(), left.rend());
      for (const AxisRef& axis : free)
        if (Rounds rounds = rounds_of_site(program_, graph, site, axis, caution_); !rounds.empty()) {
          found.in_rounds.push_back({std::move(rounds), axis});
          left = without(mesh, left, {axis});
        } else if (auto a = axis_for_slices(site.site.factors, r, own, size_of(mesh, axis))) take(*a, axis);
    }
    return found;
  }
  static Axes used_partials(const SiteShardings& site) {
    for (const Sharding& computed : site.results)
      if (!computed.unreduced.empty()) return computed.unreduced;
    return {};
  }
  // The index dim that runs along an axis of a result.
  static std::optional<std::uint32_t> dim_along(const Factors& factors, std::size_t result, std::size_t axis) {
    const std::vector<std::uint32_t>& indexed_by = factors.results[result].axes[axis].factors;
    return indexed_by.empty() ? std::nullopt : factors.factors[indexed_by.front()].dim;
  }
  // The first axis that divides evenly into slices, else the longest one.
  static std::optional<std::size_t> axis_for_slices(const Factors& factors, std::size_t result,
                                                    const std::vector<std::int64_t>& sizes, std::int64_t slices) {
    std::optional<std::size_t> best;
    for (std::size_t a = 0; a < sizes.size(); ++a) {
      if (sizes[a] < slices || !dim_along(factors, result, a)) continue;
      if (sizes[a] % slices == 0) return a;
      if (!best || sizes[*best] < sizes[a]) best = a;
    }
    return best;
  }

  // Several writers of one value: each is split along the blocks of the value.
  void split_writers(const Graph& graph, const std::vector<std::string>& names, MeshId id, const Site& site) {
    const Mesh& mesh = program_[id];
    for (ValueId v : site.results) {
      const std::optional<Sharding>& sharding = graph[v].sharding;
      if (!sharding || sharding->mesh != id) continue;
      std::vector<Axes> axes;
      std::size_t most = 0;
      for (const DimSharding& dim : sharding->dims) {
        axes.emplace_back();
        for (const AxisRef& axis : dim.axes)
          if (size_of(mesh, axis) > 1) axes.back().push_back(axis);
        most = std::max(most, axes.back().size());
      }
      if (most == 0) continue;
      if (most > 1 && device_count(mesh) > most_listed) {
        for (std::size_t a = 0; a < axes.size(); ++a)
          for (; axes[a].size() > 1; axes[a].pop_back())
            leave(graph, v, a, named(mesh, axes[a].back()),
                  "its nested blocks would need more devices than a plan can list");
        most = 1;
      }
      WritersPlan plan = plan_of_writers(program_, graph, names, v, axis_splits_of(mesh, axes, most > 1));
      for (PlannedSplit& split : plan.splits) out_.plan.decisions.push_back(std::move(split));
      for (std::size_t a = 0; a < axes.size() && !plan.why_not.empty(); ++a)
        for (const AxisRef& axis : axes[a]) leave(graph, v, a, named(mesh, axis), plan.why_not);
      return;
    }
  }
  void leave(const Graph& graph, ValueId v, std::size_t axis, const AxisName& over, const std::string& why) {
    out_.left.push_back({graph[v].name, "axis " + std::to_string(axis), to_string(over),
                         "several operations write this value, and " + why});
  }

  // Blocks of several axes are nested; for each writer, only a list of them all can give their ends.
  static std::vector<AxisSplit> axis_splits_of(const Mesh& mesh, const std::vector<Axes>& axes, bool listed) {
    std::vector<AxisSplit> splits;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (axes[a].empty()) continue;
      AxisSplit split{a, Blocks{}, {}};
      if (listed) {
        split.over.placement = Placement::devices;
        split.over.devices = devices_along(mesh, axes[a]);
        split.blocks = Blocks{static_cast<std::int64_t>(split.over.devices.size())};
      } else {
        split.over.placement = Placement::mesh_axis;
        split.over.mesh = mesh.name;
        split.over.axis = named(mesh, axes[a].front());
        split.blocks = Blocks{size_of(mesh, axes[a].front())};
      }
      splits.push_back(std::move(split));
    }
    return splits;
  }

  // A group is split like its first sharded result; its inner operations are not considered.
  void add_splits_of_group(const Graph& graph, const std::string& name, const Operation& operation) {
    const Operator op = with_author_names(program_, operation);
    const Factors factors = factors_of(op);
    for (const TensorFactors& result : factors.results) {
      const std::optional<Sharding>& sharding = graph[operation.results[result.tensor]].sharding;
      if (!sharding || is_maximal(program_[sharding->mesh])) continue;
      for (std::size_t a = 0; a < result.axes.size(); ++a) {
        const std::vector<std::uint32_t>& indexed_by = result.axes[a].factors;
        const std::optional<std::uint32_t> dim = indexed_by.empty() ? std::nullopt
                                                                    : factors.factors[indexed_by.front()].dim;
        for (const AxisRef& axis : sharding->dims[a].axes)
          if (dim) add_split(sharding->mesh, {.operation = name, .dim = plan_dim_name(op, *dim)}, axis);
      }
      return;
    }
  }

  void add_split(MeshId id, PlannedSplit split, const AxisRef& axis) {
    const Mesh& mesh = program_[id];
    split.blocks = Blocks{size_of(mesh, axis)};
    if (split.blocks.count == 1) return;
    split.placement = Placement::mesh_axis;
    split.mesh = mesh.name;
    split.axis = named(mesh, axis);
    out_.plan.decisions.push_back(std::move(split));
  }

  static constexpr std::int64_t most_listed = 4096;

  const Program& program_;
  NamedOperators named_;
  const Caution caution_;
  const ListedValues& listed_;
  const ChosenSites* chosen_;
  std::set<std::pair<GraphId, OperationId>> decided_;
  ShardedPlan out_;
};

}  // namespace

std::string to_string(const LeftWhole& left) {
  const std::string where = "`" + left.target + "`: " + left.why;
  if (left.dim.empty()) return "`" + left.operation + "` is not placed on " + where;
  return "`" + left.dim + "` of `" + left.operation + "` is not split over " + where;
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

namespace {

// Leaves dims whole that cannot be split, until the others can be.
ShardedPlan applicable(const Program& program, const Caution& caution, ShardedPlan out) {
  for (;;) {
    SplitResult tried = apply_splits(program, out.plan, caution, NoBoxes::refused);
    if (tried.problems.empty()) return out;
    std::set<std::size_t> refused;
    for (const PlanProblem& problem : tried.problems) {
      if (!refused.insert(problem.decision).second) continue;
      const auto& split = std::get<PlannedSplit>(out.plan.decisions[problem.decision]);
      std::string target = split.axis ? to_string(*split.axis) : "devices " + ir::to_string(split.devices);
      out.left.push_back({split.operation, split.dim, std::move(target), problem.message});
    }
    Plan rest;
    for (std::size_t k = 0; k < out.plan.decisions.size(); ++k)
      if (!refused.contains(k)) rest.decisions.push_back(std::move(out.plan.decisions[k]));
    out.plan = std::move(rest);
  }
}

}  // namespace

ShardedPlan plan_of_shardings(const Program& program, const Caution& caution, const Plan& but,
                              const ListedValues& listed) {
  return applicable(program, caution, Planner(program, caution, but, listed, nullptr).plan());
}

ChosenSites implied_sites(const Program& program) {
  ChosenSites sites;
  for (const auto& [id, path] : graph_paths(program)) sites.emplace(id, explicit_shardings(program, program[id]));
  return sites;
}

std::vector<PlannedSplit> splits_of_site(const Program& program, GraphId graph, const SiteShardings& site) {
  const ChosenSites sites{{graph, {site}}};
  std::vector<PlannedSplit> splits;
  for (Decision& decision : Planner(program, {}, {}, {}, &sites).plan().plan.decisions)
    if (auto* split = std::get_if<PlannedSplit>(&decision)) splits.push_back(std::move(*split));
  return splits;
}

ShardedPlan plan_of_sites(const Program& program, const ChosenSites& sites, const Caution& caution) {
  return applicable(program, caution, Planner(program, caution, {}, {}, &sites).plan());
}

}  // namespace tap::passes
