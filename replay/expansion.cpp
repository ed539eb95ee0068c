// Block graphs: run in order, their tasks leave every output held; and everything is where its device finds it.
#include "check/justify.h"
#include "ir/well_formed.h"
#include "replay/execution.h"
#include "replay/replay.h"

namespace tap::check {

namespace {

constexpr auto expansion = Obligation::expansion;

class Expansion {
 public:
  Expansion(const ir::Program& program, const ir::BlockGraph& blocks) : program_(program), blocks_(blocks) {}

  void run(Verdict& verdict, const std::string& where) {
    auto attempt = [&](std::string at, auto check) { return verdict.attempt({}, where + at, check); };
    bool all = attempt("", [&] { begin(); });
    for (std::size_t t = 0; t < blocks_.tasks.size() && all; ++t)
      all = attempt(fmt::format(", task {}", t),
                    [&] { std::visit([this](const auto& task) { this->task(task); }, blocks_.tasks[t]); });
    if (all) verdict.attempt(expansion, where, [&] { outputs(); });
  }

 private:
  Class class_of(ir::HeldId id) { return places_.class_of({{}, blocks_[id].value, {}}); }
  const Ranges& box_of(ir::HeldId id) const { return blocks_[id].box.dims; }

  void begin() {
    for (std::size_t o = 0; o < graph_.operations.size(); ++o) {
      check_placements(program_, graph_.operations[o]);
      runs_.push_back({places_.side({{}, ir::OperationId(o)}), &graph_, &places_.writers_in(graph_)});
    }
    for (ir::HeldId id : blocks_.inputs) {
      memory_[id.index()].value = class_of(id);
      memory_[id.index()].cells.add(cells_of(graph_[blocks_[id].value].type.shape));
    }
  }
  void outputs() {
    for (std::size_t k = 0; k < graph_.outputs.size(); ++k) {
      Boxes held;
      for (ir::HeldId id : blocks_.outputs[k]) {
        bool there = memory_[id.index()].hold(class_of(id), box_of(id));
        expect(expansion, there, "output {} is not in memory {}", k, id.index());
        held.add(box_of(id));
      }
      expect(expansion, held.cover(cells_of(graph_[graph_.outputs[k]].type.shape)), "a part of output {} is nowhere",
             k);
    }
  }

  void task(const ir::Move& move) {
    expect(Obligation::held, memory_[move.from.index()].hold(class_of(move.from), move.box.dims),
           "what is moved from memory {} is not there", move.from.index());
    expect(expansion, inside(move.box.dims, box_of(move.to)), "what is moved goes beyond memory {}", move.to.index());
    memory_[move.to.index()].value = class_of(move.to);
    memory_[move.to.index()].cells.add(move.box.dims);
  }

  void task(const ir::Application& task) {
    const Run& run = runs_[task.operation.index()];
    const ir::Operator& op = *run.side.op;
    check_place(program_, *run.side.operation, task.device, task.box.dims);
    const Ranges points = points_of(op, task.box.dims, false, expansion);
    if (is_idle(op, points)) return;
    for (std::size_t k = 0; k < task.operands.size(); ++k) {
      const std::int64_t device = blocks_[task.operands[k]].device;
      bool here = device == task.device || device == ir::everywhere;
      expect(Obligation::held, here, "operand {} is held by another device", k);
      check_reads(run, k, points, memory_[task.operands[k].index()], Obligation::held);
    }
    for (std::size_t k = 0; k < task.results.size(); ++k) {
      const ir::Held& held = blocks_[task.results[k]];
      expect(Obligation::held, held.device == task.device, "result {} is on another device", k);
      Contents& memory = memory_[task.results[k].index()];
      auto fits_in = [&](const Ranges& cells) {
        expect(expansion, inside(cells, held.box.dims), "result {} is cut off", k);
      };
      for (const ir::Access& write : op.writes) {
        if (write.tensor != k) continue;
        fits_in(written_by(op, write, points));
        add_written(program_, run, write, points, held.box.dims, memory);
      }
      if (!op.region() || op.region()->kind == ir::RegionKind::group) continue;
      fits_in(cells_of(op.results[k].shape));
      memory.value = run.side.results[k];
      memory.cells.add(held.box.dims);
    }
  }

  const ir::Program& program_;
  const ir::BlockGraph& blocks_;
  const ir::Graph& graph_ = program_[blocks_.graph];
  const ir::GraphClaim claim_{blocks_.graph, blocks_.graph, {}, {}, {}};
  Places places_{program_, claim_, true};
  std::vector<Run> runs_;                                                      // by operation
  std::vector<Contents> memory_ = std::vector<Contents>(blocks_.held.size());  // by what is held
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
      const ir::RegionBody* region = program[operation.op].region();
      if (!region || region->kind == ir::RegionKind::group || std::ranges::count(reached, region->graph) > 0) continue;
      bool runs = region->kind != ir::RegionKind::iterate || region->trips.lo < region->trips.hi;
      if (runs) reached.push_back(region->graph);
    }
  }
}

}  // namespace tap::check
