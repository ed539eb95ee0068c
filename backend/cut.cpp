#include "backend/cut.h"

#include "backend/patterns.h"

namespace tap::backend {

using namespace ir;

namespace {

// The largest dim along which blocks share nothing; of equal ones the outermost.
std::optional<std::uint32_t> dim_to_cut(const Program& program, const Operator& op) {
  std::optional<std::uint32_t> best;
  if (!op.map() && !op.reduce()) return best;
  auto extent = [&](std::size_t d) { return op.dims[d].range.size(); };
  for (std::size_t d : free_dims(program, op))
    if (extent(d) > 1 && (!best || extent(d) > extent(*best))) best = static_cast<std::uint32_t>(d);
  return best;
}

BlockGraph cut(const Program& program, const Graph& graph, std::int64_t blocks) {
  BlockGraph result{graph.name, graph.values, {}, graph.inputs, graph.outputs};
  for (const Operation& operation : graph.operations) {
    const Operator& op = program[operation.op];
    std::vector<BlockSplit> splits;
    auto dim = blocks > 1 ? dim_to_cut(program, op) : std::nullopt;
    if (dim) splits.push_back({*dim, ceil_blocks(op.dims[*dim].range, blocks), Placement::threads, {}, {}});
    auto applications = applications_of(op, splits);
    result.operations.push_back({operation.op, operation.operands, operation.results, splits, std::move(applications)});
  }
  return result;
}

}  // namespace

BlockProgram cut_for_threads(const Program& program, GraphId graph, std::int64_t blocks) {
  BlockProgram result{program, {}};
  result.program.main = graph;
  for (const Graph& g : program.graphs) result.graphs.push_back(cut(program, g, blocks));
  return result;
}

}  // namespace tap::backend
