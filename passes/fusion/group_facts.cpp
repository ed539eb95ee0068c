#include "passes/fusion/group_facts.h"

#include <algorithm>
#include <cmath>

#include "ir/graph.h"
#include "ir/tensor_bytes.h"

namespace tap::passes {

using namespace ir;

namespace {

// The one dim of the group that a window moves with.
std::optional<std::size_t> follows(const Window& window) {
  std::optional<std::size_t> found;
  for (std::size_t g = 0; g < window.start.coefficients.size(); ++g) {
    if (window.start.coefficients[g] == 0) continue;
    if (found) return std::nullopt;
    found = g;
  }
  return found;
}

// How often an operation's points are computed if the group runs in blocks of these dims, and whole along others.
double recompute(const GroupView& group, const MovingDemand& windows, std::size_t operation,
                 const std::vector<bool>& in_blocks) {
  const Operator& op = group.program[group.graph.operations[operation].op];
  double blocks = 1, part = 1;
  Box block;
  for (std::size_t g = 0; g < group.dims.size(); ++g) {
    std::int64_t n = std::max<std::int64_t>(group.dims[g].range.size(), 1);
    if (group.dims[g].role == DimRole::counter) n = 1;
    std::int64_t size = in_blocks[g] ? std::min(n, nominal_block) : n;
    blocks *= static_cast<double>(n) / static_cast<double>(size);  // a last, smaller block is no repetition
    block.dims.push_back({0, size});
  }
  std::vector<bool> counted(group.dims.size(), false);
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    std::int64_t n = op.dims[d].range.size();
    if (n <= 0 || op.dims[d].role == DimRole::counter) continue;
    const Window& window = windows.operations[operation][d];
    const std::int64_t length = window.bounds(block).size();
    part *= static_cast<double>(std::min(length, n)) / static_cast<double>(n);
    // Blocks that do not meet its range: the first row of a tensor belongs to few of them.
    const auto g = follows(window);
    if (!g || counted[*g]) continue;
    counted[*g] = true;
    const double moves = std::abs(static_cast<double>(window.start.coefficients[*g])) *
                         static_cast<double>(std::max<std::int64_t>(group.dims[*g].range.size(), 1));
    part *= std::min(1.0, (static_cast<double>(n) + static_cast<double>(length) - 1) / moves);
  }
  // Not less than once: some block needs each point.
  return std::max(blocks * part, 1.0);
}

// One point, with all streamed loops inside it.
Box one_point(const GroupView& group) {
  Box box;
  for (const IndexDim& dim : group.dims)
    box.dims.push_back(dim.role == DimRole::reduction ? dim.range : Range{dim.range.lo, dim.range.lo + 1});
  return box;
}

double bytes_of_point(const TensorType& type, const std::vector<Window>& region, const Box& point) {
  double bytes = static_cast<double>(size_of(type.element));
  for (std::size_t axis = 0; axis < region.size(); ++axis)
    bytes *= static_cast<double>(std::min(region[axis].bounds(point).size(), type.shape[axis]));
  return bytes;
}

double terms_of_a_cell(const Operator& op) {
  double terms = 1;
  for (const IndexDim& dim : op.dims)
    if (dim.role == DimRole::reduction) terms *= static_cast<double>(dim.range.size());
  return terms;
}

}  // namespace

GroupFacts group_facts(const GroupView& group, const MovingDemand& windows) {
  GroupFacts facts;
  const Graph& graph = group.graph;
  Box point = one_point(group);
  std::vector<bool> crosses(graph.values.size(), false);
  for (ValueId v : graph.inputs) {
    crosses[v.index()] = true;
    facts.operand_bytes += bytes_of_point(graph[v].type, windows.values[v.index()], point);
    facts.crossing_bytes += total_bytes(graph[v].type);
  }
  for (ValueId v : graph.outputs) {
    crosses[v.index()] = true;
    facts.escaping_bytes += total_bytes(graph[v].type);
    facts.crossing_bytes += total_bytes(graph[v].type);
  }
  for (std::size_t v = 0; v < crosses.size(); ++v)
    if (!crosses[v]) facts.inner_bytes += region_bytes(graph.values[v].type, windows.values[v]);
  std::vector<bool> all(group.dims.size(), true);
  for (std::size_t k = 0; k < graph.operations.size(); ++k)
    facts.recompute.push_back(recompute(group, windows, k, all));
  return facts;
}

std::optional<std::uint32_t> repeating_dim(const GroupView& group, const MovingDemand& windows,
                                           const RecomputeLimit& limit) {
  std::optional<std::uint32_t> worst;
  double most = 0;
  for (std::size_t k = 0; k < group.graph.operations.size(); ++k) {
    const Operator& op = group.program[group.graph.operations[k].op];
    double allowed = terms_of_a_cell(op) <= static_cast<double>(limit.cheap_terms) ? limit.factor : 1;
    if (recompute(group, windows, k, std::vector<bool>(group.dims.size(), true)) <= allowed + 1e-9) continue;
    for (std::uint32_t g = 0; g < group.dims.size(); ++g) {
      if (group.dims[g].role == DimRole::counter) continue;
      std::vector<bool> along(group.dims.size(), false);
      along[g] = true;
      double factor = recompute(group, windows, k, along);
      if (factor <= most) continue;
      most = factor;
      worst = g;
    }
  }
  return worst;
}

}  // namespace tap::passes
