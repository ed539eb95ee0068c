// Each distinct operator that the block graphs apply becomes a kernel.
#include <algorithm>
#include <deque>
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

  struct Found {
    std::size_t kernel = 0;
    std::vector<Preparation> prepared;
  };
  // `constant`: by operand, whether it is the same in every run.
  Found of(const Operator& op, bool any_box, std::vector<bool> constant) {
    if (!op.reduce() || std::count(constant.begin(), constant.end(), true) == 0) constant.clear();
    std::vector<PreparedOperand> prepared;
    const LowerOptions options{exact_, any_box, machine_, constant, &prepared};
    if (is_group(op)) return {of_loops(lowered(program_, op, options)), {}};
    std::size_t hash = structural_hash(op);
    auto [begin, end] = operators_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (it->second.any_box == any_box && it->second.constant == constant && equal_structure(*it->second.op, op))
        return it->second.found;
    Kernel kernel = lowered(program_, op, options);
    if (!constant.empty() && prepared.empty()) {  // then it is the kernel for all operands
      Found found = of(op, any_box, {});
      operators_.emplace(hash, Seen{&op, any_box, std::move(constant), found});
      return found;
    }
    Found& fresh = operators_.emplace(hash, Seen{&op, any_box, std::move(constant), {all_.size(), {}}})->second.found;
    all_.push_back(std::move(kernel));
    for (PreparedOperand& operand : prepared) {
      const Operator& map = maps_.emplace_back(std::move(operand.map));
      fresh.prepared.push_back({operand.operand, of(map, false, {}).kernel, map.results[0]});
    }
    return fresh;
  }

 private:
  struct Seen {
    const Operator* op;
    bool any_box;
    std::vector<bool> constant;
    Found found;
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
  std::deque<Operator> maps_;                            // that prepare operands
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

// By operator and operand, whether every application of it has a `const` input there: then it can be prepared before the
// program runs. Only main knows its inputs; what else applies the operator takes what it is given.
std::vector<std::vector<bool>> constant_operands(const BlockProgram& blocks) {
  const Program& program = blocks.program;
  std::vector<std::vector<bool>> result(program.operators.size());
  std::vector<bool> seen(program.operators.size(), false);
  for (std::size_t g = 0; g < blocks.graphs.size(); ++g) {
    const BlockGraph& graph = blocks.graphs[g];
    const Graph& values = program.graphs[g];
    std::vector<bool> constant(graph.held.size(), false);
    for (std::size_t k = 0; GraphId(g) == program.main && k < graph.inputs.size(); ++k)
      constant[graph.inputs[k].index()] = values[values.inputs[k]].is_const;
    for (const Task& task : graph.tasks) {
      auto* application = std::get_if<Application>(&task);
      if (!application) continue;
      std::size_t op = values[application->operation].op.index();
      if (!seen[op]) result[op].assign(application->operands.size(), true);
      seen[op] = true;
      for (std::size_t k = 0; k < application->operands.size(); ++k)
        result[op][k] = result[op][k] && constant[application->operands[k].index()];
    }
  }
  return result;
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
  compiled.kernels.prepared.resize(program.operators.size());
  const std::vector<bool> any_box = applied_to_parts(program), in_groups = graphs_in_groups(program);
  std::vector<std::vector<bool>> constant = constant_operands(compiled.blocks);
  Kernels kernels(compiled, exact_arithmetic, machine);
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    if (in_groups[g]) continue;
    for (const Operation& operation : program.graphs[g].operations) {
      const Operator& op = program[operation.op];
      auto& kernel = compiled.kernels.of[operation.op.index()];
      if (kernel || !(op.map() || op.reduce() || is_group(op))) continue;
      auto found = kernels.of(op, any_box[operation.op.index()], std::move(constant[operation.op.index()]));
      kernel = found.kernel;
      compiled.kernels.prepared[operation.op.index()] = std::move(found.prepared);
    }
  }
  return compiled;
}

std::vector<Kernel> kernels_of(BlockProgram program) { return lower(std::move(program)).kernels.kernels; }

}  // namespace tap::backend
