// Block graphs: treated as schedules in which every value has its own memory and the tasks run in order, each on a
// device.
#include <utility>

#include "check/justify.h"
#include "ir/verify/well_formed.h"
#include "replay/execution.h"
#include "replay/placements.h"
#include "replay/replay.h"

namespace tap::check {

namespace {

// Each held box is the buffer with its number.
ir::BufferId buffer_of(ir::HeldId id) { return ir::BufferId(id.index()); }
ir::BufferMember buffer_of(const ir::HeldMember& one) { return {buffer_of(one.id), one.number}; }

class Expansion {
 public:
  Expansion(const ir::Program& program, const ir::BlockGraph& blocks) : program_(program), blocks_(blocks) {}

  void run(Verdict& verdict, const std::string& where) {
    if (!verdict.attempt({}, where, [&] { translate(); })) return;
    constexpr auto expansion = Obligation::expansion;
    Tasks tasks{blocks_.graph, schedule_, {}, expansion, Obligation::held, expansion, false};
    for (const auto& holders : blocks_.outputs) {
      tasks.outputs.emplace_back();
      for (ir::HeldId id : holders) tasks.outputs.back().push_back(buffer_of(id));
    }
    run_tasks(program_, tasks, where, verdict);
  }

 private:
  void translate() {
    for (const ir::Operation& operation : graph_.operations) {
      check_placements(program_, operation);
      auto id = ir::OperationId(static_cast<std::size_t>(&operation - graph_.operations.data()));
      schedule_.operations.emplace_back().what.operation = id;
    }
    for (const ir::Held& held : blocks_.held)
      schedule_.buffers.push_back({"", {}, held.box, ir::MemorySpace::output, 0, held.row});
    for (ir::HeldId id : blocks_.inputs) {
      ir::Buffer& buffer = schedule_.buffers[id.index()];
      buffer.space = ir::MemorySpace::input;
      buffer.at = std::ranges::find(graph_.inputs, blocks_[id].value) - graph_.inputs.begin();
    }
    schedule_.sequences.emplace_back();
    for (const ir::Task& task : blocks_.tasks) try {
        std::visit([this](const auto& row) { in_rows_or_one_by_one(row, [this](const auto& one) { add(one); }); },
                   task);
      } catch (Refusal& refusal) {
        refusal.detail = fmt::format("task {}: {}", &task - blocks_.tasks.data(), refusal.detail);
        throw;
      }
  }

  void add(const ir::Move& move) {
    schedule_.sequences[0].push_back({{ir::CopyBox{buffer_of(move.from), buffer_of(move.to), move.box, move.row}}});
  }
  // It runs where it is placed; its operands are there or everywhere, and its results are there.
  void add(const ir::Application& task) {
    const ir::Operation& operation = graph_[task.operation];
    const ir::Operator& op = program_[operation.op];
    const std::size_t rank = task.box.rank();
    const Along device = along(task.row, task.device, rank);
    check_device(program_, operation, task.row, device, moving(task.row, task.box), blocks_.devices);
    ir::KernelCall call{0, 1, task.operation.index(), task.box, {}, {}, task.row};
    for (ir::Level& level : call.row) level.steps.erase(level.steps.begin() + static_cast<std::ptrdiff_t>(rank));
    for (const auto* list : {&task.operands, &task.results})
      for (const ir::HeldMember& one : *list) call.buffers.push_back(buffer_of(one));
    for (std::size_t k = 0; k < call.buffers.size() && !is_idle(op, task.box); ++k) {
      const ir::Held& held = blocks_.held[call.buffers[k].id.index()];
      Along by{held.device, std::vector<std::int64_t>(task.row.size(), 0)};
      const Along number = along(task.row, call.buffers[k].number, rank + 1 + k);
      const std::vector<Along> positions = positions_in(held.row, task.row, number, Obligation::held);
      for (std::size_t l = 0; l < positions.size(); ++l)
        by = sum(std::move(by), positions[l], held.row[l].steps.back());
      const bool all = held.device == ir::everywhere && held.row.empty() && k < task.operands.size();
      expect(Obligation::held, by == device || all, "operand or result {} is on another device", k);
    }
    // Blocks that write the same cells do so one after another.
    const bool again = std::ranges::any_of(op.writes, [](auto& write) { return !write.invariant_dims.empty(); });
    if (!again) return schedule_.sequences[0].push_back({{std::move(call)}});
    ir::Row across, within;
    for (ir::Level& level : std::exchange(call.row, {})) (is_across(level, rank) ? across : within).push_back(level);
    call.row = std::move(within);
    for (ir::KernelCall& one : members(call)) {
      one.row = across;
      schedule_.sequences[0].push_back({{std::move(one)}});
    }
  }

  const ir::Program& program_;
  const ir::BlockGraph& blocks_;
  const ir::Graph& graph_ = program_[blocks_.graph];
  ir::Schedule schedule_;
};

}  // namespace

void check_expansion(const ir::Program& program, const std::vector<ir::BlockGraph>& blocks, const std::string& where,
                     Verdict& verdict) {
  auto fault = ir::ill_formed(program, blocks);
  if (!verdict.attempt({}, where, [&] { expect(Obligation::well_formed, !fault, "{}", fault.value_or("")); })) return;
  std::vector<ir::GraphId> reached{program.main};
  for (std::size_t k = 0; k < reached.size(); ++k) {
    Expansion(program, blocks[reached[k].index()]).run(verdict, fmt::format("{}, graph {}", where, reached[k].index()));
    for (const ir::Operation& operation : program[reached[k]].operations) {
      const ir::Operator& op = program[operation.op];
      if (!op.region() || std::ranges::count(reached, op.region()->graph) > 0) continue;
      bool runs = op.region()->kind != ir::RegionKind::iterate || !op.region()->trips.empty();
      if (runs) reached.push_back(op.region()->graph);
    }
  }
}

}  // namespace tap::check
