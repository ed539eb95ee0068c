#include "cost/search/kept_lines.h"

#include <algorithm>

#include "ir/graphs/operation_names.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/text/plan_text.h"
#include "passes/plan_problem.h"
#include "passes/shardings/plan_shardings.h"
#include "passes/splits/divided_inputs.h"
#include "passes/splits/requested_splits.h"

namespace tap::cost {

using namespace ir;

namespace {

// Lines about different dims may be in any order.
SiteLines comparable(std::vector<PlannedSplit> splits) {
  std::ranges::stable_sort(splits, {}, [](const PlannedSplit& s) { return std::pair(s.operation, s.dim); });
  SiteLines lines;
  for (PlannedSplit& split : splits) lines.push_back(decision_text(std::move(split)));
  return lines;
}

}  // namespace

KeptLines::KeptLines(const Program& program, MeshId mesh, const Plan& given, const Plan& start)
    : placed_(program), mesh_(mesh) {
  take(given, true);
  take(start, false);
}

void KeptLines::take(const Plan& plan, bool is_given) {
  OperationFinder finder(placed_);
  std::set<Place> new_places;
  for (std::size_t d = 0; d < plan.decisions.size(); ++d) {
    auto* split = std::get_if<PlannedSplit>(&plan.decisions[d]);
    if (!split) continue;  // they made the program
    const auto own = split ? as_written_here(*split, plan) : std::nullopt;
    if (own && passes::divided_input(placed_, *own) && divide_input({d, is_given, *own})) continue;
    const auto location = own ? finder.find(placed_.main, ir::before_partials(own->operation)) : std::nullopt;
    if (!location) {
      if (is_given && own) problems_[d] = passes::no_operation(placed_, d, own->operation);
      else if (is_given) cannot_keep(d);
      continue;
    }
    const Place place{location->graph, location->operation};
    if (!lines_.contains(place)) new_places.insert(place);
    if (new_places.contains(place)) lines_[place].push_back({d, is_given, *own});
  }
}

// With the mesh's name in this program and the names of dims. Nothing if the search has no such lines: it divides over whole
// axes of one mesh, evenly.
std::optional<PlannedSplit> KeptLines::as_written_here(PlannedSplit split, const Plan& plan) const {
  const Mesh& mesh = placed_[mesh_];
  if (!split.axis || split.all_at || split.tree || !split.blocks.boundaries.empty()) return std::nullopt;
  const auto axis = find_axis(mesh, split.axis->name);
  if (!axis || split.axis->sub || split.blocks.count != mesh[*axis].size) return std::nullopt;
  for (const Mesh& other : plan.meshes)
    if (other.name == split.mesh && other.axes == mesh.axes) split.mesh = mesh.name;
  if (split.mesh.empty()) split.mesh = mesh.name;
  if (split.mesh != mesh.name) return std::nullopt;
  OperationFinder finder(placed_);
  if (const auto location = finder.find(placed_.main, split.operation)) {
    const Graph& graph = placed_[location->graph];
    split.dim = passes::named_dim(placed_, graph[location->operation], graph, split);
  }
  return split;
}

bool KeptLines::divide_input(Line line) {
  const Graph& main = placed_[placed_.main];
  const auto input = std::ranges::find_if(main.inputs, [&](ValueId v) { return main[v].name == line.split.operation; });
  const auto dim = axis_of_dim(line.split.dim);
  if (input == main.inputs.end() || !dim || *dim >= main[*input].type.shape.size()) return false;
  if (given_inputs_.contains(*input) && !line.is_given) return true;
  if (line.is_given) given_inputs_.insert(*input);
  const Sharding whole{mesh_, std::vector<DimSharding>(main[*input].type.shape.size()), {}, {}, ""};
  Sharding& parts = inputs_.try_emplace(*input, whole).first->second;
  append(placed_[mesh_], parts.dims[*dim].axes, {*find_axis(placed_[mesh_], line.split.axis->name), {}});
  return true;
}

void KeptLines::only_lines(std::optional<OperationInGraph> open) {
  only_lines_ = true;
  open_ = open;
}

bool KeptLines::is_open(GraphId graph, const passes::Site& site) const {
  return open_ && open_->graph == graph && std::ranges::count(site.operations, open_->operation) > 0;
}

SiteLines KeptLines::lines_of(GraphId graph, const Strategy& strategy) {
  std::vector<Value>& values = placed_.graphs[graph.index()].values;
  for (std::size_t r = 0; r < strategy.stored.size(); ++r)
    values[strategy.site.site.results[r].index()].sharding = strategy.stored[r];
  return comparable(passes::splits_of_site(placed_, graph, strategy.site));
}

SiteLines KeptLines::wanted_lines(GraphId graph, const Strategy& strategy, std::vector<std::size_t>& given) const {
  std::vector<PlannedSplit> kept;
  for (OperationId o : strategy.site.site.operations)
    if (auto found = lines_.find({graph, o}); found != lines_.end())
      for (const Line& line : found->second) {
        kept.push_back(line.split);
        if (line.is_given) given.push_back(line.number);
      }
  return comparable(std::move(kept));
}

bool KeptLines::is_as_given(GraphId graph, const Strategy& strategy) {
  std::vector<std::size_t> given;
  return lines_of(graph, strategy) == wanted_lines(graph, strategy, given);
}

void KeptLines::restrict(GraphId graph, std::vector<Strategy>& strategies) {
  std::vector<std::size_t> given;
  const SiteLines wanted = wanted_lines(graph, strategies.front(), given);
  if (wanted.empty() && !only_lines_) return;
  if (is_open(graph, strategies.front().site.site)) return;
  std::vector<bool> other;
  for (const Strategy& strategy : strategies) other.push_back(lines_of(graph, strategy) != wanted);
  if (std::ranges::count(other, false) == 0) {
    for (std::size_t line : given) cannot_keep(line);
    return;
  }
  std::size_t k = 0;
  std::erase_if(strategies, [&](const Strategy&) { return other[k++]; });
}

std::optional<Sharding> KeptLines::parts_of(ValueId input) const {
  const auto found = inputs_.find(input);
  return found == inputs_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<passes::PlanProblem> KeptLines::problems() const {
  std::vector<passes::PlanProblem> found;
  for (const auto& [line, problem] : problems_) found.push_back(problem);
  return found;
}

void KeptLines::cannot_keep(std::size_t line) {
  problems_[line] = {line, "`tapc plan` cannot keep this line", PlanPart::whole, "",
                     "it keeps lines `choose`, `unroll` and `fuse`, and lines that divide an operation evenly over "
                     "whole axes of the mesh, all of one operation as `tapc plan` writes them"};
}

}  // namespace tap::cost
