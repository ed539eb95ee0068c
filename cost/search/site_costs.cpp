#include "cost/search/site_costs.h"

#include <algorithm>
#include <optional>

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "passes/shardings/all_reduces.h"
#include "passes/shardings/halos.h"
#include "passes/shardings/moves_of_iterates.h"
#include "passes/shardings/reads.h"

namespace tap::cost {

using namespace ir;
using passes::SiteShardings;

namespace {

void add(StepChoice& choice, const TransferCost& cost) {
  choice.seconds += cost.seconds;
  choice.traffic += cost.bytes;
}
double cells_of(const Mesh& mesh, const Sharding& sharding, const Shape& shape) {
  double cells = 1;
  for (std::int64_t n : local_shape(mesh, sharding, shape)) cells *= static_cast<double>(n);
  return cells;
}
bool is_read_twice(const SiteShardings& site, std::size_t operand) {
  return std::ranges::count(site.site.uses, site.site.uses[operand]) > 1;
}
// Whether devices might read less than their blocks of the operand, or parts of it in several places: most operations go over all
// of each axis in order, which takes no boxes to find out.
bool might_read_part(const Program& program, const Graph& graph, const SiteShardings& site, std::size_t operand) {
  if (site.site.operations.size() > 1 || is_read_twice(site, operand)) return true;
  const auto [operation, number] = site.site.uses[operand];
  const Operator& op = program[graph[operation].op];
  for (const Access& read : op.reads) {
    if (read.tensor != number) continue;
    for (std::size_t axis = 0; axis < read.projection.rank(); ++axis) {
      const std::int64_t extent = op.operands[number].shape[axis];
      if (read.projection.shape[axis] == extent && extent != 1) continue;
      const auto dim = read.projection.start.rows[axis].as_variable();
      if (!dim || op.dims[*dim].range != Range{0, extent}) return true;
      if (std::ranges::any_of(op.constraints, [&](const Constraint& c) { return c.expr.coefficients[*dim] != 0; }))
        return true;
    }
  }
  return false;
}
// Whether blocks of the operand are read by other devices than those that compute at the same coordinates.
bool moves_cells(const SiteShardings& site, std::size_t operand) {
  for (const passes::AxisFactors& axis : site.site.factors.operands[operand].axes)
    for (std::uint32_t f : axis.factors)
      if (!site.factors[f].empty() && passes::moves_cells(site.site.factors.factors[f])) return true;
  return false;
}

}  // namespace

bool is_given_whole(const Program& program, MeshId mesh, GraphId id, ValueId value) {
  const Graph& graph = program[id];
  if (passes::is_left_by_iterate(program, id, value)) return true;
  const auto input = std::ranges::find(graph.inputs, value);
  if (input == graph.inputs.end()) return false;
  if (id != program.main) return input - graph.inputs.begin() >= static_cast<std::ptrdiff_t>(graph.outputs.size());
  return !graph[value].sharding || graph[value].sharding->mesh != mesh;
}

StepChoice SiteCosts::choice_of(GraphId id, const Strategy& strategy, SiteTerms* terms) {
  const Graph& graph = program_[id];
  const Mesh& mesh = program_[mesh_];
  const SiteShardings& site = strategy.site;
  StepChoice choice;
  for (std::size_t k = 0; k < site.operands.size(); ++k) {
    const bool is_given = is_given_whole(program_, mesh_, id, site.site.operands[k]);
    const std::optional<Held> part = is_given ? std::nullopt : part_needed(id, site, k);
    choice.needs.push_back(part ? *part : table_.number(site.operands[k]));
    if (!is_given && !part) add(choice, edges_of(id, site, k));
  }
  const double edges = choice.seconds;
  for (std::size_t r = 0; r < site.results.size(); ++r) {
    choice.leaves.push_back(table_.number(strategy.stored[r]));
    if (site.results[r].unreduced.empty()) continue;
    const ValueId value = site.site.results[r];
    const TensorType& type = graph[value].type;
    const auto combination = passes::is_needed_again(program_, graph, value) ? Combination::usual
                                                                             : Combination::by_slices;
    add(choice, transfers_.reshard(bare(mesh, site.results[r]), strategy.stored[r], type, combination));
    choice.extra += cells_of(mesh, site.results[r], type.shape) * static_cast<double>(size_of(type.element));
  }
  if (const auto scan = passes::divided_scan(program_, graph, site.site, mesh_, site.factors))
    add(choice, transfers_.gather({scan->over}, static_cast<double>(scan->bytes_of_totals)));
  const double messages = choice.seconds;
  for (OperationId o : site.site.operations) choice.seconds += seconds_of(id, o, site);
  if (terms) *terms = {choice.seconds - messages, edges, messages - edges};
  return choice;
}

std::optional<Held> SiteCosts::part_needed(GraphId id, const SiteShardings& site, std::size_t operand) {
  if (!might_read_part(program_, program_[id], site, operand)) return std::nullopt;
  const Mesh& mesh = program_[mesh_];
  const auto first =
      static_cast<std::size_t>(std::ranges::find(site.site.uses, site.site.uses[operand]) - site.site.uses.begin());
  const Sharding& needed = site.operands[first];
  std::vector<passes::SiteRead> reads = passes::reads_of_site(program_, program_[id], site, operand);
  const Shape& shape = program_[id][site.site.operands[operand]].type.shape;
  bool is_exact = site.site.operations.size() > 1 || is_read_twice(site, operand);
  // The blocks of a scan begin where its bound says.
  if (passes::divided_scan(program_, program_[id], site.site, mesh_, site.factors))
    is_exact |= passes::cells_received(mesh, reads, needed, shape) > 0;
  if (!is_exact && static_cast<double>(passes::cells_read(mesh, reads)) >= cells_of(mesh, needed, shape))
    return std::nullopt;
  return table_.number(needed, std::move(reads));
}

// What devices that hold the operand as the site needs it receive of the blocks of others.
TransferCost SiteCosts::edges_of(GraphId id, const SiteShardings& site, std::size_t operand) {
  const Mesh& mesh = program_[mesh_];
  const TensorType& type = program_[id][site.site.operands[operand]].type;
  const Sharding& held = site.operands[operand];
  Axes split;
  for (const DimSharding& dim : held.dims) split.insert(split.end(), dim.axes.begin(), dim.axes.end());
  const bool is_scan = passes::divided_scan(program_, program_[id], site.site, mesh_, site.factors).has_value();
  if (split.empty() || (!is_scan && !moves_cells(site, operand))) return {};
  std::int64_t cells = 0;
  // Of an input in parts that is read in two ways, each is priced as it is held for that.
  if (is_read_twice(site, operand)) cells = passes::halo_of(mesh, site.site.factors, operand, held, type.shape).cells;
  else
    cells =
        passes::cells_received(mesh, passes::reads_of_site(program_, program_[id], site, operand), held, type.shape);
  return transfers_.exchange(in_mesh_order(mesh, split),
                             static_cast<double>(cells) * static_cast<double>(size_of(type.element)));
}

double SiteCosts::seconds_of(GraphId graph, OperationId operation, const SiteShardings& site) {
  const Mesh& mesh = program_[mesh_];
  const Operator& op = program_[program_[graph][operation].op];
  OperationTimes::Part part;
  if (site.site.operations.size() == 1) {
    part.parts.assign(op.dims.size(), 1);
    for (std::size_t f = 0; f < site.factors.size(); ++f)
      if (auto dim = site.site.factors.factors[f].dim) part.parts[*dim] = size_of(mesh, site.factors[f]);
    for (const TensorType& type : op.operands) part.operands.push_back(type.shape);
    for (std::size_t k = 0; k < site.operands.size(); ++k) {
      Shape& shape = part.operands[site.site.uses[k].second];
      shape = local_shape(mesh, site.operands[k], shape);
    }
    for (std::size_t r = 0; r < site.results.size(); ++r)
      part.results.push_back(local_shape(mesh, site.results[r], op.results[r].shape));
    return times_->of(graph, operation, part);
  }
  double devices = 1;  // several writers share the blocks of their value
  for (const DimSharding& dim : site.results.front().dims) devices *= static_cast<double>(size_of(mesh, dim.axes));
  return times_->of(graph, operation, part) / devices;
}

}  // namespace tap::cost
