// Block graphs: schedules in which everything has memory of its own and the tasks run one after another, each on a device.
#include "check/justify.h"
#include "ir/well_formed.h"
#include "replay/execution.h"
#include "replay/replay.h"

namespace tap::check {

namespace {

std::vector<ir::BufferId> buffers_of(const std::vector<ir::HeldId>& held) {
  std::vector<ir::BufferId> buffers;
  for (ir::HeldId id : held) buffers.emplace_back(id.index());
  return buffers;
}

class Expansion {
 public:
  Expansion(const ir::Program& program, const ir::BlockGraph& blocks) : program_(program), blocks_(blocks) {}

  void run(Verdict& verdict, const std::string& where) {
    if (!verdict.attempt({}, where, [&] { translate(); })) return;
    constexpr auto expansion = Obligation::expansion;
    Tasks tasks{blocks_.graph, schedule_, {}, expansion, Obligation::held, expansion, false};
    for (const auto& holders : blocks_.outputs) tasks.outputs.push_back(buffers_of(holders));
    run_tasks(program_, tasks, where, verdict);
  }

 private:
  void translate() {
    for (const ir::Operation& operation : graph_.operations) {
      check_placements(program_, operation);
      auto id = ir::OperationId(static_cast<std::size_t>(&operation - graph_.operations.data()));
      schedule_.operations.emplace_back().what.operation = id;
    }
    for (const ir::Held& held : blocks_.held) schedule_.buffers.push_back({"", {}, held.box, ir::BufferPlace::output});
    for (ir::HeldId id : blocks_.inputs) {
      ir::Buffer& buffer = schedule_.buffers[id.index()];
      buffer.place = ir::BufferPlace::input;
      buffer.at = std::ranges::find(graph_.inputs, blocks_[id].value) - graph_.inputs.begin();
    }
    schedule_.sequences.emplace_back();
    for (const ir::Task& task : blocks_.tasks) try {
        std::visit([this](const auto& one) { add(one); }, task);
      } catch (Refusal& refusal) {
        refusal.detail = fmt::format("task {}: {}", &task - blocks_.tasks.data(), refusal.detail);
        throw;
      }
  }

  void add(const ir::Move& move) {
    ir::CopyBox copy{ir::BufferId(move.from.index()), ir::BufferId(move.to.index()), move.box};
    schedule_.sequences[0].push_back({{std::move(copy)}});
  }
  // It runs where it is placed; what it reads is there or everywhere, and what it writes is there.
  void add(const ir::Application& task) {
    const ir::Operation& operation = graph_[task.operation];
    const ir::Operator& op = program_[operation.op];
    check_place(program_, operation, task.device, all_of(task.box, task.row));
    ir::KernelCall call{0, 1, task.operation.index(), task.box, {}, buffers_of(task.operands), task.row};
    for (ir::BufferId id : buffers_of(task.results)) call.buffers.push_back(id);
    for (std::size_t k = 0; k < call.buffers.size() && !is_idle(op, task.box); ++k) {
      const std::int64_t device = blocks_.held[call.buffers[k].index()].device;
      bool here = device == task.device || (device == ir::everywhere && k < task.operands.size());
      expect(Obligation::held, here, "operand or result {} is held by another device", k);
    }
    // Blocks that write the same cells again do so one after another.
    const bool again = std::ranges::any_of(op.writes, [](auto& write) { return !write.invariant_dims.empty(); });
    for (std::int64_t n = 0; n < (again ? task.row.count : 1); ++n) {
      if (again) call.box = task.row.at(task.box, n), call.row = {};
      schedule_.sequences[0].push_back({{call}});
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
      if (!is_whole(op) || std::ranges::count(reached, op.region()->graph) > 0) continue;
      bool runs = op.region()->kind != ir::RegionKind::iterate || !op.region()->trips.empty();
      if (runs) reached.push_back(op.region()->graph);
    }
  }
}

}  // namespace tap::check
