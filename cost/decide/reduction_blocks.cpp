#include "cost/decide/reduction_blocks.h"

#include <algorithm>
#include <optional>

#include "backend/tiles/patterns.h"
#include "cost/decide/part.h"
#include "ir/author_names.h"
#include "ir/graphs/graph_algorithms.h"
#include "ir/graphs/operation_names.h"
#include "passes/shardings/plan_writers.h"

namespace tap::cost {

using namespace ir;

namespace {

constexpr std::int64_t most_blocks = 64;
constexpr double fewest_points = 1 << 15;  // of a block: many times what a task takes to start
constexpr double fewest_points_a_cell = 16;
constexpr double most_points = 1e15;  // no memory has room for more

double points_along(const Operator& op, const std::vector<std::size_t>& dims) {
  double points = 1;
  for (std::size_t d : dims) points *= static_cast<double>(op.dims[d].range.size());
  return points;
}

std::vector<std::size_t> dims_of(const Operator& op, DimRole role) {
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == role) dims.push_back(d);
  return dims;
}

// The outermost reduction dim, whose blocks any associative monoid combines in order.
std::optional<std::size_t> outermost_reduction(const Operator& op) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::reduction) return d;
  return {};
}

// Each block has a copy of the results: it combines many times as many points as it has cells.
std::int64_t blocks_of(const Program& program, const Operator& op, std::size_t dim) {
  const bool scatters = backend::native_scatter(program, op).has_value();
  const std::vector<std::size_t> parallel = dims_of(op, DimRole::parallel);
  const std::vector<std::size_t> free = scatters ? backend::free_dims(program, op) : parallel;
  const double cells = points_along(op, parallel), shares = points_along(op, free);
  if (cells < 1 || 2 * shares > most_blocks) return 1;  // enough to share as they are
  const double points = shares * points_along(op, dims_of(op, DimRole::reduction));
  if (points > most_points) return 1;
  const double least = std::max(fewest_points, fewest_points_a_cell * cells);
  const double worthwhile = std::min(points / least, static_cast<double>(most_blocks));
  return std::min(static_cast<std::int64_t>(worthwhile / shares), op.dims[dim].range.size());
}

}  // namespace

std::vector<PlannedSplit> reduction_blocks(const Program& program, GraphId id, const std::string& path,
                                           const std::set<OperationId>& fixed, const passes::Caution& caution) {
  std::vector<PlannedSplit> lines;
  const Graph& graph = program[id];
  const DefUse uses = def_use(graph);
  const std::vector<std::string> names = operation_names(graph);
  auto has_other_writers = [&](ValueId v) { return uses.writers[v.index()].size() > 1; };
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    const Operation& operation = graph.operations[o];
    const Operator& op = program[operation.op];
    if (!op.reduce() || names[o].empty() || fixed.count(OperationId(o)) || !is_standalone(program, operation)) continue;
    if (!op.constraints.empty() || !op.blockings.empty() || std::ranges::any_of(operation.results, has_other_writers))
      continue;
    const auto dim = outermost_reduction(op);
    const std::int64_t blocks = dim ? blocks_of(program, op, *dim) : 1;
    if (blocks < 2 || !passes::why_not_reassociated(program, op, caution).empty()) continue;
    PlannedSplit line;
    line.operation = path + names[o];
    line.dim = passes::plan_dim_name(with_author_names(program, operation), static_cast<std::uint32_t>(*dim));
    line.blocks.count = blocks;
    line.placement = Placement::threads;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace tap::cost
