#include "cost/search/site_costs.h"

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "passes/shardings/halos.h"

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

StepChoice SiteCosts::choice_of(GraphId id, const Strategy& strategy, SiteTerms* terms) {
  const Graph& graph = program_[id];
  const Mesh& mesh = program_[mesh_];
  const SiteShardings& site = strategy.site;
  StepChoice choice;
  for (std::size_t k = 0; k < site.operands.size(); ++k) {
    choice.needs.push_back(table_.number(site.operands[k]));
    const TensorType& type = graph[site.site.operands[k]].type;
    const passes::Halo halo = passes::halo_of(mesh, site.site.factors, k, site.operands[k], type.shape);
    Axes split;
    for (const DimSharding& dim : site.operands[k].dims) split.insert(split.end(), dim.axes.begin(), dim.axes.end());
    double cells = static_cast<double>(halo.cells);
    if (cells == 0 && !split.empty() && moves_cells(site, k)) cells = cells_of(mesh, site.operands[k], type.shape);
    add(choice, transfers_.exchange(in_mesh_order(mesh, split), cells * static_cast<double>(size_of(type.element))));
  }
  const double edges = choice.seconds;
  for (std::size_t r = 0; r < site.results.size(); ++r) {
    choice.leaves.push_back(table_.number(strategy.stored[r]));
    if (site.results[r].unreduced.empty()) continue;
    const TensorType& type = graph[site.site.results[r]].type;
    add(choice, transfers_.reshard(bare(mesh, site.results[r]), strategy.stored[r], type));
    choice.extra += cells_of(mesh, site.results[r], type.shape) * static_cast<double>(size_of(type.element));
  }
  const double messages = choice.seconds;
  for (OperationId o : site.site.operations) choice.seconds += seconds_of(id, o, site);
  if (terms) *terms = {choice.seconds - messages, edges, messages - edges};
  return choice;
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
