// Schedules: executed in order, with iterates by induction, the tasks leave every output in its place; and no task
// writes memory that another task still needs, or that another task of its batch uses.
#include <set>

#include "check/legal.h"
#include "ir/verify/well_formed.h"
#include "replay/memories.h"
#include "replay/replay.h"

namespace tap::check {

namespace {

class Machine {
 public:
  Machine(const ir::Program& program, const Tasks& tasks) : program_(program), tasks_(tasks) {}

  bool run(Verdict& verdict, const std::string& where) {
    bool all = verdict.attempt({}, where, [&] { begin(); });
    for (std::size_t b = 0; b < s_.sequences[0].size() && all; ++b)
      all = verdict.attempt({}, fmt::format("{}, batch {}", where, b), [&] { this->batch(s_.sequences[0][b]); });
    return all && verdict.attempt(tasks_.does, where, [&] { outputs(); });
  }

 private:
  using BufferId = ir::BufferId;
  // The pending write of a task: of a value, or a fill.
  struct Write {
    Where to;
    Box cells;
    std::optional<Class> value = {};
    std::optional<ir::Scalar> filled = {};
    WrittenCells by = {};  // for an operation
    const Run* run = nullptr;
  };
  using Writes = std::vector<Write>;

  const ir::Buffer& buffer(BufferId id) const { return s_.buffers[id.index()]; }
  Contents& at(BufferId id) { return memories_->at(id); }
  Class class_of(ir::ValueId v, const ir::Path& path) { return numbering_.class_of(path, v, steps_); }

  void begin() {
    std::set<ir::OperatorId> applied;
    for (const ir::Graph& graph : program_.graphs)
      for (const ir::Operation& operation : graph.operations) applied.insert(operation.op);
    for (ir::OperatorId id : applied) reads_are_inside(program_[id]);  // cells out of bounds are fills
    memories_.emplace(s_, tasks_.keeps);
    for (std::size_t b = 0; b < s_.buffers.size(); ++b) {
      const ir::Buffer& buffer = s_.buffers[b];
      if (buffer.space != ir::MemorySpace::input) continue;
      Contents& given = at(BufferId(b)) = {class_of(graph_.inputs[static_cast<std::size_t>(buffer.at)], {})};
      given.cells.add(buffer.box);
    }
    for (const ir::Sequence& sequence : s_.sequences)
      for (const ir::Batch& batch : sequence)
        for (const ir::ScheduledTask& task : batch)
          if (auto* loop = std::get_if<ir::Iteration>(&task.what))
            for (const auto& [state, a, b] : loop->states) memories_->mark_swapped(a, b);
    if (s_.preparation) prepare(s_.sequences[*s_.preparation]);
  }

  // Packs the constants that kernels need, once: all at a time. The contents of packed operands are checked in
  // kernels.cpp.
  void prepare(const ir::Sequence& sequence) {
    for (const ir::Batch& batch : sequence)
      for (const ir::ScheduledTask& task : batch) {
        const auto& call = std::get<ir::KernelCall>(task.what);
        const BufferId made = call.buffers[1].id;
        expect(tasks_.does, !at(made).prepared_by, "b{} is prepared twice", made.index());
        at(made) = {.value = at(call.buffers[0].id).value, .prepared_by = call.kernel};
        memories_->take(made, made);
      }
  }
  bool is_prepared(BufferId id, const Run& run, std::size_t operand) {
    if (buffer(id).space != ir::MemorySpace::prepared) return false;
    const Contents& contents = at(id);
    for (const ir::Preparation& how : s_.prepared[run.side.operation->op.index()]) {
      bool so = contents.value == run.side.operands[operand] && contents.prepared_by == how.kernel;
      expect(tasks_.does, how.operand != operand || so,
             "operand {} is not prepared in the layout that its kernel needs", operand);
    }
    return true;
  }

  bool holds(BufferId id, Class value) {
    return std::ranges::all_of(memories_->held(memories_->where(id)),
                               [&](const auto& one) { return one.second->contains(value, buffer(id).box); });
  }
  void outputs() {
    for (std::size_t k = 0; k < graph_.outputs.size(); ++k) {
      BoxSet held;
      for (BufferId id : tasks_.outputs[k]) {
        expect(tasks_.does, holds(id, class_of(graph_.outputs[k], {})), "output {} is not in b{}", k, id.index());
        for (Box& box : all_of(buffer(id).box, buffer(id).row)) held.add(std::move(box));
      }
      expect(tasks_.does, held.covers(Box::of_shape(graph_[graph_.outputs[k]].type.shape)),
             "a part of output {} is missing", k);
    }
  }

  // Tasks of a batch read the contents from before the batch.
  void batch(const ir::Batch& batch) {
    memories_->begin_batch();
    Writes writes;
    auto begin = [&](const auto& one) {
      for (Write& write : this->begin(one)) writes.push_back(std::move(write));
    };
    for (const ir::ScheduledTask& task : batch) {
      if (auto* loop = std::get_if<ir::Iteration>(&task.what)) run(*loop);
      else if (auto* call = std::get_if<ir::KernelCall>(&task.what)) in_rows_or_one_by_one(*call, begin);
      else if (auto* copy = std::get_if<ir::CopyBox>(&task.what)) in_rows_or_one_by_one(*copy, begin);
      else if (auto* fill = std::get_if<ir::Fill>(&task.what)) in_rows_or_one_by_one(*fill, begin);
      else in_rows_or_one_by_one(std::get<ir::OutsideCall>(task.what), begin);
    }
    for (const Write& write : writes) end(write);
  }

  void end(const Write& write) {
    for (State* state : memories_->write(write.to, write.cells, write.by.dense, write.by.wrote)) {
      Contents& memory = state->contents;
      if (write.by.wrote.by) {
        const Shape& shape = write.run->side.op->results[write.by.wrote.by->tensor].shape;
        add_written(program_, *write.run, write.by, buffer(write.to.id),
                    memories_->seen(write.to.id, state->members, shape).by_all, state->members, memory);
        continue;
      }
      if (!write.value || (memory.value && memory.value != write.value)) memory = {};
      if (write.filled) memory.filled = write.filled;
      memory.value = write.value;
      if (write.value) memory.cells.add(write.cells);
    }
  }

  Box whole_of(const Shape& shape, const Where& where) const {
    return memories_->seen(where.id, where.members, shape).by_some;
  }

  const Run& run_of(std::size_t number) {
    auto [known, fresh] = runs_.try_emplace(number);
    if (!fresh) return known->second;
    const ir::OperationRef& what = s_.operations[number].what;
    const ir::Graph& graph = numbering_.graph(what.path);
    return known->second = {numbering_.side(what, steps_), &graph, &numbering_.writers_in(graph)};
  }

  // Refuses if the memories lack cells of a box of the operand; cells out of bounds need not exist, but may have to be
  // filled.
  void check_read(const Run& run, std::size_t operand, const Where& where, const Box& cells,
                  const std::optional<ir::Scalar>& fill = {}) {
    const ir::Operator& op = *run.side.op;
    const Class value = run.side.operands[operand];
    for (const auto& [members, contents] : memories_->held(where)) {
      const auto [by_all, by_some] = memories_->seen(where.id, members, op.operands[operand].shape);
      expect(tasks_.reads, contents->contains(value, intersect(cells, by_some)),
             "operand {} of `{}` is missing: the memory {}", operand, op.name,
             contents->value == value ? "lacks cells of it" : "holds a different value");
      expect(tasks_.does, !fill || by_all.contains(cells) || contents->filled == fill,
             "operand {} of `{}` has no fill around the tensor", operand, op.name);
    }
  }
  void check_reads(const Run& run, std::size_t operand, const Box& points, const Where& where, const ir::Row& levels) {
    const ir::Operator& op = *run.side.op;
    if (is_whole(op)) check_read(run, operand, where, whole_of(op.operands[operand].shape, where));
    if (points.empty()) return;  // an empty reduction reads nothing
    for (const ir::Access& read : op.reads)
      if (read.tensor == operand)
        check_read(run, operand, where, memories_->cells_of(where, levels, touched(levels, read, points)));
  }

  Writes begin(const ir::KernelCall& call) {
    const Run& run = run_of(call.operations);
    const ir::Operator& op = *run.side.op;
    Box first = call.box;
    for (const ir::Counter& counter : call.counters) first.dims[counter.dim] = op.dims[counter.dim].range;
    const bool parts = !tasks_.scheduled || s_.kernels[call.kernel].any_box;
    check_blocks(op, first, call.row, tasks_.scheduled && !op.region(), parts, tasks_.does);
    ir::Row across, within;  // levels that change memories, or only boxes
    for (const ir::Level& level : call.row) (is_across(level, first.rank()) ? across : within).push_back(level);
    expect(tasks_.does, across.empty() || !is_whole(op), "`{}` cannot be part of a row of tasks", op.name);
    std::vector<Where> where;
    for (std::size_t k = 0; k < call.buffers.size(); ++k)
      where.push_back(memories_->where(call.buffers[k], across, first.rank() + k));
    Writes writes;
    for (const Box& points : points_of(op, first, within)) {
      if (is_idle(op, points)) continue;
      for (std::size_t k = 0; k < op.operands.size(); ++k)
        if (!is_prepared(where[k].id, run, k)) check_reads(run, k, points, where[k], across);
      for (std::size_t k = 0; k < op.operands.size(); ++k) memories_->read(where[k], buffer(where[k].id).box);
      const Where* results = where.data() + op.operands.size();
      for (std::size_t k = 0; k < op.results.size() && is_whole(op); ++k)
        writes.push_back({results[k], whole_of(op.results[k].shape, results[k]), run.side.results[k]});
      for (const ir::Access& by : op.writes) {
        const std::size_t k = op.operands.size() + by.tensor;
        ir::Row changing, shared;  // levels that change the memory, or only the cells that are written
        for (const ir::Level& level : across) (level.steps[first.rank() + k] != 0 ? changing : shared).push_back(level);
        const Where to = memories_->where(call.buffers[k], changing, first.rank() + k);
        for (const Box& some : points_that_write(op, by, points, shared))
          writes.push_back(written(run, by, some, to, changing));
      }
    }
    return writes;
  }
  Write written(const Run& run, const ir::Access& by, const Box& all, const Where& to, const ir::Row& across) {
    const ir::Operator& op = *run.side.op;
    const Box first = one_of_each_reduced(op, all);
    const Moving points = moving(across, first), box = touched(across, by, first);
    const std::int64_t count = count_of(op, by, first, reach(across, points));
    const std::optional<Wrote> wrote = Memories::wrote(to, op, by, points);
    bool alike = across.empty() || (count > 0 && wrote && to.each_by_one && Memories::are_alike(to, box));
    expect(tasks_.keeps, alike, "the members of b{} are not written in the same way", to.id.index());
    const Box all_cells = memories_->cells_of(to, across, box);
    const bool dense = count >= all_cells.size();  // no cell is written twice, so there are no gaps
    const Box whole = whole_of(op.results[by.tensor].shape, to), cells = intersect(all_cells, whole);
    expect(tasks_.does, count == 0 || whole.contains(all_cells), "`{}` writes outside its result", op.name);
    return {to, cells, {}, {}, {*wrote, cells, count, dense}, &run};
  }

  Writes begin(const ir::CopyBox& copy) {
    if (copy.box.empty()) return {};
    const std::size_t rank = copy.box.rank();
    const Where from = memories_->where(copy.from, copy.row, rank);
    const Moving from_box = moving(copy.row, copy.box);
    // Others may write to cells beside these: of several members at once, only the hull of what is read is noted.
    expect(tasks_.reads, copy.from.id != copy.to.id || Memories::are_alike(from, from_box),
           "the members of b{} are not read in the same way", from.id.index());
    const Box cells = memories_->cells_of(from, copy.row, from_box);
    const auto held = memories_->held(from);
    const std::optional<Class> value = held[0].second->value;
    for (const auto& [members, contents] : held)
      expect(tasks_.reads, value && contents->value == value && contents->cells.covers(cells),
             "the cells copied from b{} are missing", from.id.index());
    ir::Row across, within;  // levels that change memories, or only cells of one
    for (const ir::Level& level : copy.row) {
      bool moves = std::any_of(level.steps.begin(), level.steps.end() - 2, [](auto by) { return by != 0; });
      expect(tasks_.keeps, moves || level.steps.back() != 0, "cells of b{} are written twice", copy.to.id.index());
      (level.steps.back() != 0 ? across : within).push_back(level);
    }
    const Where to = memories_->where(copy.to, across, rank + 1);
    Writes writes;
    for (const Box& box : all_of(copy.box, within)) {
      const Moving to_box = moving(across, box);
      expect(tasks_.keeps, to.each_by_one && Memories::are_alike(to, to_box),
             "the members of b{} are not written in the same way", to.id.index());
      writes.push_back({to, memories_->cells_of(to, across, to_box), value});
    }
    memories_->read(from, cells);
    return writes;
  }

  Writes begin(const ir::Fill& fill) {
    return {{memories_->where(fill.buffer, fill.row, 0), buffer(fill.buffer.id).box, {}, fill.value}};
  }

  // Each access has its own memory with just the cells that it touches; out of bounds it contains the fill.
  Writes begin(const ir::OutsideCall& call) {
    const Run& run = run_of(call.operation);
    const ir::Operator& op = *run.side.op;
    check_blocks(op, call.box, call.row, false, true, tasks_.does);
    const Box points = points_of(op, call.box, {})[0];
    if (is_idle(op, points)) return {};
    auto region = [&](std::size_t k, const ir::Access& access) {
      Where where = memories_->where(call.regions[k], call.row, call.box.rank() + k);
      const Moving box = touched(call.row, access, points);
      const Box &own = buffer(where.id).box, cells = memories_->cells_of(where, call.row, box);
      bool is = (own == cells || (own.empty() && cells.empty())) && Memories::are_alike(where, box);
      expect(tasks_.does, is, "region {} does not match its access", k);
      return where;
    };
    for (std::size_t k = 0; k < op.reads.size(); ++k) {
      const ir::Access& read = op.reads[k];
      const Where where = region(k, read);
      std::optional<ir::Scalar> fill;
      if (read.fill) fill = op.exprs[*read.fill].value;
      check_read(run, read.tensor, where, buffer(where.id).box, fill);
      memories_->read(where, buffer(where.id).box);
    }
    Writes writes;
    for (std::size_t k = 0; k < op.writes.size(); ++k) {
      const ir::Access& by = op.writes[k];
      const Where where = region(op.reads.size() + k, by);
      const std::int64_t count = count_of(op, by, points, reach(call.row, moving(call.row, points)));
      expect(tasks_.does, call.row.empty() || count > 0, "the calls of a row do not write region {} alike", k);
      auto add = [&](const Box& part) {
        const Box cells = memories_->cells_of(where, call.row, touched(call.row, by, part));
        writes.push_back({where, cells, run.side.results[by.tensor]});
      };
      if (count >= buffer(where.id).box.size()) add(points);
      else each_point(by, points, 0, add);
    }
    return writes;
  }
  template <class Visit>
  static void each_point(const ir::Access& by, Box points, std::size_t d, Visit visit) {
    if (d == points.rank()) return visit(points);
    const ir::Range all = points.dims[d];
    const std::int64_t end = is_indexed_by(by, d) ? all.hi : all.lo + 1;
    for (std::int64_t i = all.lo; i < end; ++i) {
      points.dims[d] = {i, i + 1};
      each_point(by, points, d + 1, visit);
    }
  }

  // Everything that a sequence and its iterates write.
  void collect_written(const ir::Sequence& sequence, std::set<BufferId>& all) const {
    auto add = [&](const auto& members, std::size_t from) {
      for (std::size_t k = from; k < members.size(); ++k) all.insert(members[k].id);
    };
    auto op = [&](std::size_t operation) -> const ir::Operator& {
      return program_[numbering_.operation(s_.operations[operation].what).op];
    };
    for (const ir::Batch& batch : sequence)
      for (const ir::ScheduledTask& task : batch) {
        if (auto* call = std::get_if<ir::KernelCall>(&task.what))
          add(call->buffers, op(call->operations).operands.size());
        else if (auto* outside = std::get_if<ir::OutsideCall>(&task.what))
          add(outside->regions, op(outside->operation).reads.size());
        else if (auto* copy = std::get_if<ir::CopyBox>(&task.what)) all.insert(copy->to.id);
        else if (auto* fill = std::get_if<ir::Fill>(&task.what)) all.insert(fill->buffer.id);
        else collect_written(std::get<ir::Iteration>(task.what), all);
      }
  }
  void collect_written(const ir::Iteration& loop, std::set<BufferId>& all) const {
    for (const auto& [k, now, next] : loop.states) all.insert({now, next});
    collect_written(s_.sequences[loop.body], all);
  }

  // By induction: an arbitrary trip starts with its state in the state's memories and with unchanged contents of
  // memories that no trip writes, and nothing else; and it leaves the next trip's state there. So one trip is
  // simulated, whatever the number of trips and the nesting of iterates.
  void run(const ir::Iteration& loop) {
    const Run run = run_of(loop.operation);
    ir::Path body = s_.operations[loop.operation].what.path;
    body.emplace_back(s_.operations[loop.operation].what.operation);
    auto has = [&](BufferId id, Class value, const char* when) {
      expect(tasks_.does, holds(id, value), "b{} does not hold the state {}", id.index(), when);
    };
    for (const auto& [k, now, next] : loop.states) has(now, run.side.operands[k], "before the first step");
    std::set<BufferId> written;
    collect_written(loop, written);
    for (BufferId id : written) memories_->invalidate(id);
    steps_.push_back(unknown_trip(started_iterates_++));
    runs_.clear();
    const ir::Graph& step = numbering_.graph(body);
    for (const auto& [k, now, next] : loop.states) {
      memories_->invalidate(now);
      (at(now) = {class_of(step.inputs[k], body)}).cells.add(buffer(now).box);
    }
    for (const ir::Batch& batch : s_.sequences[loop.body]) this->batch(batch);
    for (const auto& [k, now, next] : loop.states) {
      has(next, class_of(step.outputs[k], body), "after a step");
      memories_->move(next, now);
    }
    steps_.pop_back();
    runs_.clear();
    for (const auto& [k, now, next] : loop.states) { (at(now) = {run.side.results[k]}).cells.add(buffer(now).box); }
  }

  const ir::Program& program_;
  const Tasks& tasks_;
  const ir::Schedule& s_ = tasks_.schedule;
  const ir::Graph& graph_ = program_[tasks_.graph];
  const ir::GraphClaim claim_{tasks_.graph, tasks_.graph, {}, {}, {}};
  ValueNumbering numbering_{program_, claim_, true};
  std::optional<Memories> memories_;
  std::vector<std::int64_t> steps_;    // of the active iterates
  std::int64_t started_iterates_ = 0;  // started so far
  std::map<std::size_t, Run> runs_;    // by operation of the schedule, in this trip
};

}  // namespace

bool run_tasks(const ir::Program& program, const Tasks& tasks, const std::string& where, Verdict& verdict) {
  return Machine(program, tasks).run(verdict, where);
}

void check_schedule(const ir::Program& program, const ir::Schedule& schedule, const std::string& where,
                    Verdict& verdict) {
  auto fault = ir::ill_formed(program, schedule);
  if (!verdict.attempt({}, where, [&] { expect(Obligation::well_formed, !fault, "{}", fault.value_or("")); })) return;
  if (!verdict.attempt({}, where, [&] { check_kernels(program, schedule); })) return;
  Tasks tasks{program.main, schedule, {}, Obligation::schedule, Obligation::schedule, Obligation::memory, true};
  tasks.outputs.resize(schedule.outputs.size());
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
    if (schedule.buffers[b].space == ir::MemorySpace::output)
      tasks.outputs[static_cast<std::size_t>(schedule.buffers[b].at)].emplace_back(b);
  if (run_tasks(program, tasks, where, verdict))
    verdict.findings.push_back({Obligation::memory, Standing::proved, where, ""});
}

}  // namespace tap::check
