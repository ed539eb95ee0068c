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
  Kernels(CompiledProgram& compiled, bool exact_arithmetic) : compiled_(compiled), exact_(exact_arithmetic) {}

  std::size_t of(const Operator& op, bool any_box) {
    std::size_t hash = structural_hash(op);
    auto [begin, end] = seen_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (it->second.any_box == any_box && equal_structure(*it->second.op, op)) return it->second.kernel;
    auto& all = compiled_.kernels.kernels;
    seen_.emplace(hash, Seen{&op, any_box, all.size()});
    all.push_back(lowered(compiled_.blocks.program, op, {.exact_arithmetic = exact_, .any_box = any_box}));
    return all.size() - 1;
  }

 private:
  struct Seen {
    const Operator* op;
    bool any_box;
    std::size_t kernel;
  };
  CompiledProgram& compiled_;
  bool exact_;
  std::unordered_multimap<std::size_t, Seen> seen_;
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
    its.partial = kernels.of(its.operators.partial, true);
    its.combine = kernels.of(its.operators.combine, true);
    its.finish = kernels.of(its.operators.finish, true);
  }
}

// Operators that are applied to parts of which they say nothing: those inside of groups, and those that are placed by a dim
// which numbers no blocks of theirs (where partials of a mesh are combined in parts, each device has one partial's number).
std::vector<bool> applied_to_parts(const Program& program) {
  std::vector<bool> found(program.operators.size(), false);
  for (const Operator& op : program.operators)
    if (op.region() && op.region()->kind == RegionKind::group)
      for (const Operation& operation : program[op.region()->graph].operations) found[operation.op.index()] = true;
  for (const Graph& graph : program.graphs)
    for (const Operation& operation : graph.operations)
      for (const BlockPlacement& p : operation.placements)
        if (!is_block_dim(program[operation.op], p.dim)) found[operation.op.index()] = true;
  return found;
}

}  // namespace

CompiledProgram lower(BlockProgram blocks, bool exact_arithmetic) {
  CompiledProgram compiled;
  compiled.blocks = std::move(blocks);
  const Program& program = compiled.blocks.program;
  compiled.kernels.of.resize(program.operators.size());
  const std::vector<bool> any_box = applied_to_parts(program);
  Kernels kernels(compiled, exact_arithmetic);
  for (const Graph& graph : program.graphs)
    for (const Operation& operation : graph.operations) {
      const Operator& op = program[operation.op];
      auto& kernel = compiled.kernels.of[operation.op.index()];
      if ((op.map() || op.reduce()) && !kernel) kernel = kernels.of(op, any_box[operation.op.index()]);
      if (op.region() && op.region()->kind == RegionKind::group) add_group(compiled, kernels, operation.op);
    }
  return compiled;
}

std::vector<Kernel> kernels_of(BlockProgram program) { return lower(std::move(program)).kernels.kernels; }

}  // namespace tap::backend
