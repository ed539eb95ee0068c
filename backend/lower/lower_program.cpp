// Makes one kernel for each distinct operator that the block graphs apply.
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "backend/compiled_program.h"
#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "backend/lower/near_cells.h"
#include "ir/block_program.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

namespace {

bool is_group(const Operator& op) { return op.region() && op.region()->kind == RegionKind::group; }

// Whether they contain equal operations in the same order, on corresponding values.
bool are_equal_groups(const Program& program, const Operator& a, const Operator& b) {
  Operator same = a;
  std::get<RegionBody>(same.body).graph = b.region()->graph;
  const Graph &x = program[a.region()->graph], &y = program[b.region()->graph];
  auto type = &Value::type;
  return equal_structure(same, b) && std::ranges::equal(x.values, y.values, {}, type, type) && x.inputs == y.inputs &&
         x.outputs == y.outputs &&
         std::ranges::equal(x.operations, y.operations, [&](const Operation& one, const Operation& other) {
           const Operator &mine = program[one.op], &its = program[other.op];
           const bool same = is_group(mine) && is_group(its) ? are_equal_groups(program, mine, its)
                                                             : equal_structure(mine, its);
           return same && one.operands == other.operands && one.results == other.results;
         });
}

// Numbers the distinct operators. Operators of equal structure share a kernel; groups must also have equal loops.
class Kernels {
 public:
  Kernels(CompiledProgram& compiled, bool exact_arithmetic, const Machine& machine)
      : program_(compiled.blocks.program),
        all_(compiled.kernels.kernels),
        sources_(compiled.kernels.sources),
        exact_(exact_arithmetic),
        machine_(machine) {}

  struct Found {
    std::size_t kernel = 0;
    std::vector<Preparation> prepared;
  };
  // `constant`: by operand, whether it is constant.
  Found of(const Operator& op, bool any_box, std::vector<bool> constant) {
    if (op.map() || std::count(constant.begin(), constant.end(), true) == 0) constant.clear();
    std::vector<PreparedOperand> prepared;
    std::vector<BoxStep> steps;
    const LowerOptions options{exact_, any_box, machine_, constant, &prepared, &steps};
    if (is_group(op)) {
      Kernel kernel = lowered(program_, op, options);
      Found found{of_group(op, std::move(kernel)), {}};
      if (found.kernel == sources_.size()) sources_.push_back({op, {}, prepared, steps});
      prepare(found, prepared);
      return found;
    }
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
    sources_.push_back({op, {}, prepared, steps});
    prepare(fresh, prepared);
    return fresh;
  }

 private:
  struct Seen {
    const Operator* op;
    bool any_box;
    std::vector<bool> constant;
    Found found;
  };
  void prepare(Found& found, std::vector<PreparedOperand>& prepared) {
    for (PreparedOperand& operand : prepared) {
      const Operator& map = maps_.emplace_back(std::move(operand.map));
      found.prepared.push_back({operand.operand, of(map, false, {}).kernel, map.results[0], std::move(operand.dims),
                                operand.along, operand.step});
      sources_[found.prepared.back().kernel].boxes = {map.box()};
    }
  }
  std::size_t of_group(const Operator& op, Kernel kernel) {
    auto& known = groups_[canonical(kernel)];
    for (auto [other, number] : known)
      if (are_equal_groups(program_, op, *other)) return number;
    known.emplace_back(&op, all_.size());
    all_.push_back(std::move(kernel));
    return known.back().second;
  }

  const Program& program_;
  std::vector<Kernel>& all_;
  std::vector<KernelSource>& sources_;
  bool exact_;
  const Machine machine_;
  std::unordered_multimap<std::size_t, Seen> operators_;
  std::deque<Operator> maps_;  // that prepare operands
  std::unordered_map<std::string, std::vector<std::pair<const Operator*, std::size_t>>> groups_;  // by text
};

// Operators that are applied to parts without blockings: those placed by a dim that is not a block dim (if the
// combination of a mesh's partials is split, each device has one partial's number).
std::vector<bool> applied_to_parts(const Program& program) {
  std::vector<bool> found(program.operators.size(), false);
  for (const Graph& graph : program.graphs)
    for (const Operation& operation : graph.operations)
      for (const BlockPlacement& p : operation.placements)
        if (p.dim != whole_operation && !is_block_dim(program[operation.op], p.dim)) found[operation.op.index()] = true;
  return found;
}

// By operator and operand, whether every application passes a `const` input of main, so that it can be prepared before
// the program runs. Regions pass their inputs on, except the state of an iterate, which every trip changes.
class ConstantOperands {
 public:
  explicit ConstantOperands(const BlockProgram& blocks)
      : blocks_(blocks), inputs_(blocks.graphs.size()), operands_(blocks.program.operators.size()) {
    const Graph& main = program()[program().main];
    for (ValueId v : main.inputs) inputs_[program().main.index()].push_back(main[v].is_const);
    for (changed_ = true; changed_;) {
      changed_ = false;
      for (std::size_t g = 0; g < blocks.graphs.size(); ++g) see(g);
    }
  }
  std::vector<std::vector<bool>> take() { return std::move(operands_); }

 private:
  const Program& program() const { return blocks_.program; }

  void see(std::size_t g) {
    const BlockGraph& graph = blocks_.graphs[g];
    std::vector<bool> constant(graph.held.size(), false);
    for (std::size_t k = 0; k < graph.inputs.size() && k < inputs_[g].size(); ++k)
      constant[graph.inputs[k].index()] = inputs_[g][k];
    for (const Task& task : graph.tasks) {
      auto* application = std::get_if<Application>(&task);
      if (!application) continue;
      std::vector<bool> is_constant;
      for (const HeldMember& operand : application->operands) is_constant.push_back(constant[operand.id.index()]);
      const OperatorId id = program()[GraphId(g)].operations[application->operation.index()].op;
      narrow(operands_[id.index()], is_constant);
      const RegionBody* region = program()[id].region();
      if (!region || region->kind == RegionKind::group) continue;
      if (region->kind == RegionKind::iterate) std::fill_n(is_constant.begin(), program()[id].results.size(), false);
      narrow(inputs_[region->graph.index()], is_constant);
    }
  }
  // The first occurrence determines the initial value.
  void narrow(std::vector<bool>& known, const std::vector<bool>& is_constant) {
    std::vector<bool> both = known.empty() ? is_constant : known;
    for (std::size_t k = 0; k < both.size(); ++k) both[k] = both[k] && is_constant[k];
    changed_ = changed_ || both != known;
    known = std::move(both);
  }

  const BlockProgram& blocks_;
  std::vector<std::vector<bool>> inputs_;    // by graph
  std::vector<std::vector<bool>> operands_;  // by operator
  bool changed_ = true;
};

// A few boxes of different sizes on which each kernel is applied.
void note_boxes(CompiledProgram& compiled) {
  constexpr std::size_t enough = 2;
  const Program& program = compiled.blocks.program;
  for (const BlockGraph& graph : compiled.blocks.graphs)
    for (const Task& task : graph.tasks) {
      auto* application = std::get_if<Application>(&task);
      if (!application) continue;
      auto kernel = compiled.kernels.of[program[graph.graph].operations[application->operation.index()].op.index()];
      if (!kernel || application->box.empty()) continue;
      std::vector<Box>& boxes = compiled.kernels.sources[*kernel].boxes;
      auto as_large = [&](const Box& box) { return box.shape() == application->box.shape(); };
      if (boxes.size() < enough && std::none_of(boxes.begin(), boxes.end(), as_large))
        boxes.push_back(application->box);
    }
}

// Inner operations of groups are part of the groups' kernels.
std::vector<bool> graphs_in_groups(const Program& program) {
  std::vector<bool> found(program.graphs.size(), false);
  for (const Operator& op : program.operators)
    if (is_group(op)) found[op.region()->graph.index()] = true;
  return found;
}

// Along the dim by which it is split.
std::int64_t extent_of(const KernelTable& table, const Program& program, const ScheduledKernel& kernel) {
  if (!kernel.packs) return program[kernel.computes].dims[*kernel.tile_dim].range.size();
  const auto& preparations = table.prepared[kernel.computes.index()];
  return std::ranges::find(preparations, *kernel.packs, &Preparation::operand)->type.shape[*kernel.tile_dim];
}

// What each kernel computes, given by its first operator.
void describe_kernels(KernelTable& table, const Program& program, const std::vector<bool>& any_box) {
  std::vector<std::optional<ScheduledKernel>> what(table.kernels.size());
  for (std::size_t o = 0; o < table.of.size(); ++o) {
    if (!table.of[o]) continue;
    auto& own = what[*table.of[o]];
    if (!own) own = ScheduledKernel{OperatorId(o)};
    own->any_box |= any_box[o];  // groups that differ in this may have the same loops
    for (const Preparation& p : table.prepared[o])
      if (auto& its = what[p.kernel]; !its) its = ScheduledKernel{OperatorId(o), p.operand};
  }
  for (std::size_t k = 0; k < what.size(); ++k) {
    TAP_CHECK(what[k], "a kernel computes nothing");
    Kernel& kernel = table.kernels[k];
    if (kernel.tile_dim && !what[k]->packs) kernel.near = near_cells(program[what[k]->computes], *kernel.tile_dim);
    if (kernel.tile_dim) what[k]->tile_dim = static_cast<std::uint32_t>(*kernel.tile_dim);
    if (kernel.tile_dim)
      what[k]->grain = std::clamp<std::int64_t>(extent_of(table, program, *what[k]), 1, kernel.grain);
    table.what.push_back(*what[k]);
  }
}

}  // namespace

CompiledProgram lower(BlockProgram blocks, bool exact_arithmetic, const Machine& machine) {
  CompiledProgram compiled;
  compiled.blocks = std::move(blocks);
  const Program& program = compiled.blocks.program;
  compiled.kernels.of.resize(program.operators.size());
  compiled.kernels.prepared.resize(program.operators.size());
  const std::vector<bool> any_box = applied_to_parts(program), in_groups = graphs_in_groups(program);
  std::vector<std::vector<bool>> constant = ConstantOperands(compiled.blocks).take();
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
  note_boxes(compiled);
  describe_kernels(compiled.kernels, program, any_box);
  return compiled;
}

}  // namespace tap::backend
