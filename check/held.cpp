// Every device of a mesh holds all cells that its blocks read.
//
//   Z[i] over data, Y[i] = relu(Z[i]) over data     block r of Y reads block r of Z; both are on the devices r
//
// Nothing here counts devices: dims that are split alike and placed alike have the same block on a device, for any number.
#include "check/check.h"
#include "check/justify.h"

namespace tap::check {

namespace {

// A dim of which device r runs block r, or point r if it is a block dim itself.
struct SplitDim {
  std::uint32_t dim;
  ir::Range range;
  std::vector<ir::Blocks> blocks;  // nested splits of the dim, outermost first
};
std::vector<SplitDim> split_dims_of(const ir::Operator& op, const ir::BlockPlacement& placed) {
  std::vector<SplitDim> splits{{placed.dim, op.dims[placed.dim].range, {}}};
  for (std::size_t k = 0; k < op.blockings.size(); ++k) {
    if (op.blockings[k].block_dim != placed.dim) continue;
    splits.push_back({op.blockings[k].dim, op.dims[op.blockings[k].dim].range, {}});
    for (std::size_t before = 0; before <= k; ++before)
      if (op.blockings[before].dim == splits.back().dim) splits.back().blocks.push_back(op.blockings[before].blocks);
  }
  return splits;
}

bool is_one_to_one(const ir::Access& access, std::size_t axis, std::uint32_t dim) {
  const ir::Projection& p = access.projection;
  bool by_data = !access.coordinates.empty() && access.coordinates[axis];
  return !by_data && p.shape[axis] == 1 && p.start.rows[axis] == unit(p.start.inputs, dim);
}

// Whether every cell that a block of the reader reads is written by the same block of the writer: at the same position
// along a dim that is split alike, or by every block. (A reader without blocks needs nothing, so there is a block.)
bool finds(const ir::Operator& writer, const ir::Access& write, const SplitDim& writer_split, const ir::Access& read,
           const SplitDim& reader_split) {
  if (writer_split.range != reader_split.range || writer_split.blocks != reader_split.blocks) return false;
  for (std::size_t axis = 0; axis < write.projection.shape.size(); ++axis)
    if (is_one_to_one(write, axis, writer_split.dim) && is_one_to_one(read, axis, reader_split.dim)) return true;
  for (const ir::Constraint& c : writer.constraints)
    if (uses_dim(c.expr, writer_split.dim)) return false;
  return std::count(write.invariant_dims.begin(), write.invariant_dims.end(), writer_split.dim) > 0;
}

// For an operand that is result `result` of `writer`.
void check_direct(const ir::Program& program, const ir::Operation& writer, std::size_t result,
                  const ir::Operation& reader, std::uint32_t operand) {
  const ir::Operator &a = program[writer.op], &b = program[reader.op];
  auto is_found = [&](const ir::BlockPlacement& placed, const ir::Access& write, const ir::Access& read) {
    if (placed.dim == ir::whole_operation) return std::ranges::count(reader.placements, placed) > 0;
    for (ir::BlockPlacement with_dim = placed; const ir::BlockPlacement& p : reader.placements) {
      with_dim.dim = p.dim;
      for (const SplitDim& writer_split :
           p == with_dim && p.dim != ir::whole_operation ? split_dims_of(a, placed) : std::vector<SplitDim>{})
        for (const SplitDim& reader_split : split_dims_of(b, p))
          if (finds(a, write, writer_split, read, reader_split)) return true;
    }
    return false;
  };
  expect(Obligation::held, !a.writes.empty() && !b.reads.empty(), "operand {} is read whole, but has no transfer",
         operand);
  for (const ir::Access& read : b.reads)
    for (const ir::Access& write : a.writes)
      for (const ir::BlockPlacement& placed : writer.placements)
        if (read.tensor == operand && write.tensor == result && is_on_devices(placed))
          expect(Obligation::held, is_found(placed, write, read),
                 "operand {} is sharded on `{}`, and a device lacks blocks that it reads", operand,
                 placed.axis ? program[placed.mesh].name : "devices");
}

}  // namespace

// A value on no mesh is everywhere; a value of several writers must be moved; a transfer goes to its readers. A trip's
// state is where the previous trip leaves it.
void check_held(const ir::Program& program, Verdict& verdict) {
  for (const ir::Graph& graph : program.graphs) {
    const Uses left = writers_of(graph);
    Uses writers = left;
    bool repeated = &graph != &program[program.main];
    for (const ir::Operator& op : program.operators)
      if (op.region() && &program[op.region()->graph] == &graph)
        repeated &= op.region()->kind == ir::RegionKind::iterate;
    for (std::size_t k = 0; repeated && k < std::min(graph.inputs.size(), graph.outputs.size()); ++k)
      writers[graph.inputs[k].index()] = left[graph.outputs[k].index()];
    for (const ir::Operation& reader : graph.operations)
      for (std::uint32_t k = 0; k < reader.operands.size() && !program[reader.op].transfer(); ++k) {
        const auto& by = writers[reader.operands[k].index()];
        auto spread = [&](auto& one) { return std::ranges::any_of(graph[one.first].placements, is_on_devices); };
        if (!std::any_of(by.begin(), by.end(), spread)) continue;
        std::string where = fmt::format("the realised program, graph {}, operation {} ({})",
                                        &graph - program.graphs.data(), &reader - graph.operations.data(),
                                        program[reader.op].name);
        verdict.at.graph = static_cast<std::size_t>(&graph - program.graphs.data());
        verdict.at.operation = static_cast<std::size_t>(&reader - graph.operations.data());
        verdict.attempt(Obligation::held, where, [&] {
          expect(Obligation::held, by.size() == 1, "operand {} has {} writers, but no transfer", k, by.size());
          const ir::Operation& writer = graph[by[0].first];
          check_placements(program, writer);
          check_placements(program, reader);
          if (!program[writer.op].transfer()) check_direct(program, writer, by[0].second, reader, k);
        });
      }
  }
}

}  // namespace tap::check
