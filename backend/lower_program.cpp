// Each distinct operator that the block graphs apply becomes a kernel.
#include <algorithm>

#include "backend/compiled_program.h"
#include "backend/group_tiles.h"
#include "backend/lowered.h"

namespace tap::backend {

using namespace ir;

namespace {

// Numbers the distinct operators; equal structures share a kernel.
class Kernels {
 public:
  explicit Kernels(CompiledProgram& compiled) : compiled_(compiled) {}

  std::size_t of(const Operator& op) {
    std::size_t hash = structural_hash(op);
    auto [begin, end] = seen_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (equal_structure(*it->second.first, op)) return it->second.second;
    seen_.emplace(hash, std::pair(&op, compiled_.kernels.kernels.size()));
    compiled_.kernels.kernels.push_back(lowered(compiled_.blocks.program, op));
    return compiled_.kernels.kernels.size() - 1;
  }

 private:
  CompiledProgram& compiled_;
  std::unordered_multimap<std::size_t, std::pair<const Operator*, std::size_t>> seen_;
};

void add_group(CompiledProgram& compiled, Kernels& kernels, OperatorId id) {
  const Program& program = compiled.blocks.program;
  const Operator& group = program[id];
  if (!compiled.groups.try_emplace(id, CompiledGroup{tile_points(program, group)}).second) return;
  for (const GroupAnchor& a : group.region()->anchors) {
    if (group.dims[a.dim].role != DimRole::reduction) continue;
    OperatorId inner = program[group.region()->graph].operations[a.operation].op;
    auto [it, fresh] = compiled.streamed.try_emplace(inner);
    if (!fresh) continue;
    StreamedKernels& its = it->second;
    its.operators = streamed(program, program[inner]);
    its.partial = kernels.of(its.operators.partial);
    its.combine = kernels.of(its.operators.combine);
    its.finish = kernels.of(its.operators.finish);
  }
}

}  // namespace

CompiledProgram lower(BlockProgram blocks) {
  CompiledProgram compiled;
  compiled.blocks = std::move(blocks);
  const Program& program = compiled.blocks.program;
  compiled.kernels.of.resize(program.operators.size());
  Kernels kernels(compiled);
  for (const Graph& graph : program.graphs)
    for (const Operation& operation : graph.operations) {
      const Operator& op = program[operation.op];
      auto& kernel = compiled.kernels.of[operation.op.index()];
      if ((op.map() || op.reduce()) && !kernel) kernel = kernels.of(op);
      if (op.region() && op.region()->kind == RegionKind::group) add_group(compiled, kernels, operation.op);
    }
  return compiled;
}

std::vector<Kernel> kernels_of(BlockProgram program) { return lower(std::move(program)).kernels.kernels; }

}  // namespace tap::backend
