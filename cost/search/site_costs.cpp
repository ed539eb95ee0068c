#include "cost/search/site_costs.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "passes/shardings/halos.h"
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
    choice.needs.push_back(table_.number(site.operands[k]));
    if (!is_given_whole(program_, mesh_, id, site.site.operands[k])) add(choice, edges_of(id, site, k));
  }
  const double edges = choice.seconds;
  for (std::size_t r = 0; r < site.results.size(); ++r) {
    choice.leaves.push_back(table_.number(strategy.stored[r]));
    if (site.results[r].unreduced.empty()) continue;
    const TensorType& type = graph[site.site.results[r]].type;
    add(choice, transfers_.reshard(bare(mesh, site.results[r]), strategy.stored[r], type));
    choice.extra += cells_of(mesh, site.results[r], type.shape) * static_cast<double>(size_of(type.element));
  }
  if (const auto scan = passes::divided_scan(program_, graph, site.site, mesh_, site.factors))
    add(choice, transfers_.gather({scan->over}, static_cast<double>(scan->bytes_of_totals)));
  const double messages = choice.seconds;
  for (OperationId o : site.site.operations) choice.seconds += seconds_of(id, o, site);
  if (terms) *terms = {choice.seconds - messages, edges, messages - edges};
  return choice;
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
  // Of a value that is read in two ways, each is priced as it is held for that.
  if (std::ranges::count(site.site.uses, site.site.uses[operand]) > 1)
    cells = passes::halo_of(mesh, site.site.factors, operand, held, type.shape).cells;
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
    return times_.of(graph, operation, part);
  }
  double devices = 1;  // several writers share the blocks of their value
  for (const DimSharding& dim : site.results.front().dims) devices *= static_cast<double>(size_of(mesh, dim.axes));
  return times_.of(graph, operation, part) / devices;
}

}  // namespace tap::cost
