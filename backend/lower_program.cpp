// Each distinct operator that the block graphs apply becomes a kernel.
#include <unordered_map>

#include "backend/compiled_program.h"
#include "backend/loops_text.h"
#include "backend/lowered.h"

namespace tap::backend {

using namespace ir;

namespace {

bool is_group(const Operator& op) { return op.region() && op.region()->kind == RegionKind::group; }

// Numbers the distinct operators; equal structures share a kernel, and groups those that have the same loops.
class Kernels {
 public:
  Kernels(CompiledProgram& compiled, bool exact_arithmetic, const Machine& machine)
      : program_(compiled.blocks.program),
        all_(compiled.kernels.kernels),
        exact_(exact_arithmetic),
        machine_(machine) {}

  std::size_t of(const Operator& op, bool any_box) {
    const LowerOptions options{.exact_arithmetic = exact_, .any_box = any_box, .machine = machine_};
    if (is_group(op)) return of_loops(lowered(program_, op, options));
    std::size_t hash = structural_hash(op);
    auto [begin, end] = operators_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (it->second.any_box == any_box && equal_structure(*it->second.op, op)) return it->second.kernel;
    operators_.emplace(hash, Seen{&op, any_box, all_.size()});
    all_.push_back(lowered(program_, op, options));
    return all_.size() - 1;
  }

 private:
  struct Seen {
    const Operator* op;
    bool any_box;
    std::size_t kernel;
  };
  std::size_t of_loops(Kernel kernel) {
    auto [it, fresh] = groups_.try_emplace(canonical(kernel), all_.size());
    if (fresh) all_.push_back(std::move(kernel));
    return it->second;
  }

  const Program& program_;
  std::vector<Kernel>& all_;
  bool exact_;
  const Machine machine_;
  std::unordered_multimap<std::size_t, Seen> operators_;
  std::unordered_map<std::string, std::size_t> groups_;  // by text
};

// Operators that are applied to parts of which they say nothing: those that are placed by a dim which numbers no blocks of
// theirs (where partials of a mesh are combined in parts, each device has one partial's number).
std::vector<bool> applied_to_parts(const Program& program) {
  std::vector<bool> found(program.operators.size(), false);
  for (const Graph& graph : program.graphs)
    for (const Operation& operation : graph.operations)
      for (const BlockPlacement& p : operation.placements)
        if (!is_block_dim(program[operation.op], p.dim)) found[operation.op.index()] = true;
  return found;
}

// What is inside of groups is part of their kernels.
std::vector<bool> graphs_in_groups(const Program& program) {
  std::vector<bool> found(program.graphs.size(), false);
  for (const Operator& op : program.operators)
    if (is_group(op)) found[op.region()->graph.index()] = true;
  return found;
}

}  // namespace

CompiledProgram lower(BlockProgram blocks, bool exact_arithmetic, const Machine& machine) {
  CompiledProgram compiled;
  compiled.blocks = std::move(blocks);
  const Program& program = compiled.blocks.program;
  compiled.kernels.of.resize(program.operators.size());
  const std::vector<bool> any_box = applied_to_parts(program), in_groups = graphs_in_groups(program);
  Kernels kernels(compiled, exact_arithmetic, machine);
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    if (in_groups[g]) continue;
    for (const Operation& operation : program.graphs[g].operations) {
      const Operator& op = program[operation.op];
      auto& kernel = compiled.kernels.of[operation.op.index()];
      if ((op.map() || op.reduce() || is_group(op)) && !kernel) kernel = kernels.of(op, any_box[operation.op.index()]);
    }
  }
  return compiled;
}

std::vector<Kernel> kernels_of(BlockProgram program) { return lower(std::move(program)).kernels.kernels; }

}  // namespace tap::backend
