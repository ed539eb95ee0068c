#include "cost/decide/reduction_blocks.h"

#include <algorithm>
#include <optional>

#include "backend/tiles/cache_sets.h"
#include "backend/tiles/patterns.h"
#include "cost/decide/part.h"
#include "ir/author_names.h"
#include "ir/graphs/graph_algorithms.h"
#include "ir/graphs/operation_names.h"
#include "passes/shardings/plan_writers.h"

namespace tap::cost {

using namespace ir;

namespace {

// Bytes of a cache line: the same for every machine, as the number of blocks decides bits.
constexpr std::int64_t line = 64;
constexpr std::int64_t most_blocks = 64;
constexpr std::int64_t enough_blocks = 32;  // for many threads
constexpr double fewest_points = 1 << 15;   // of a block: many times what a task takes to start
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

// As many blocks, or a few less if these begin at whole lines: vectors that cross lines take up to 1.6 times as long.
std::int64_t blocks_of_lines(const Operator& op, std::size_t dim, std::int64_t most) {
  const std::int64_t size = op.dims[dim].range.size();
  auto begins_at_lines = [&](std::int64_t block) {
    return std::ranges::all_of(op.reads, [&](const Access& read) {
      return (backend::distance_along(op, read, dim) % line) * (block % line) % line == 0;
    });
  };
  for (std::int64_t count = most; count >= enough_blocks; --count) {
    const std::int64_t block = (size + count - 1) / count;
    if ((size + block - 1) / block < enough_blocks) break;
    if (begins_at_lines(block)) return count;
  }
  return most;
}

}  // namespace

std::vector<PlannedSplit> reduction_blocks(const Program& program, GraphId id, const std::string& path,
                                           const std::set<OperationId>& fixed, const passes::Caution& caution) {
  std::vector<PlannedSplit> splits;
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
    PlannedSplit split;
    split.operation = path + names[o];
    split.dim = passes::plan_dim_name(with_author_names(program, operation), static_cast<std::uint32_t>(*dim));
    split.blocks.count = blocks_of_lines(op, *dim, blocks);
    split.placement = Placement::threads;
    splits.push_back(std::move(split));
  }
  return splits;
}

}  // namespace tap::cost
