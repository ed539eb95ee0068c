// Schedules: run in order, with repetitions by induction, the tasks leave every output in its place; and no task works on
// memory that another still needs, or that another task of its batch works on.
#include <iterator>
#include <utility>

#include "ir/well_formed.h"
#include "replay/execution.h"
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
  struct Task {  // that has begun
    const Run* run = nullptr;
    Box points = {};
  };
  struct State {
    Contents contents = {};
    BufferId partner = {};                    // with which it changes places
    std::size_t read_in = 0, written_in = 0;  // the batch in which it was last
    BoxSet written = {};                      // in that batch
    const ir::Access* by = nullptr;           // whose points those are; none: cells of copies
  };

  State& at(BufferId id) { return states_[id.index()]; }
  static bool is_aligned(const ir::Buffer& b) { return b.at % static_cast<std::int64_t>(size_of(b.element)) == 0; }
  const ir::Buffer& buffer(BufferId id) const { return s_.buffers[id.index()]; }
  Class class_of(ir::ValueId v, const ir::Path& path) { return places_.class_of(path, v, steps_); }
  std::int64_t end_of(BufferId id) const {
    std::int64_t bytes = checked::mul(buffer(id).box.size(), static_cast<std::int64_t>(size_of(buffer(id).element)));
    return checked::add(buffer(id).at, bytes);
  }

  void begin() {
    for (std::size_t b = 0; b < s_.buffers.size(); ++b) {
      const ir::Buffer& buffer = s_.buffers[b];
      const bool prepared = buffer.place == ir::BufferPlace::prepared;
      bool fits = (!prepared && buffer.place != ir::BufferPlace::arena) ||
                  (end_of(BufferId(b)) <= (prepared ? s_.prepared_bytes : s_.arena_bytes) && is_aligned(buffer));
      expect(tasks_.keeps, fits, "b{} ends behind the memory that there is, or begins inside of a cell", b);
      if (buffer.place != ir::BufferPlace::input) continue;
      states_[b].contents.value = class_of(graph_.inputs[static_cast<std::size_t>(buffer.at)], {});
      states_[b].contents.cells.add(buffer.box);
    }
    for (const ir::Sequence& sequence : s_.sequences)
      for (const ir::Batch& batch : sequence)
        for (const ir::ScheduledTask& task : batch)
          if (auto* loop = std::get_if<ir::Iteration>(&task.what)) exchanges(*loop);
    if (s_.preparation) prepare(s_.sequences[*s_.preparation]);
  }

  // Two memories that change places are one, as far as others are concerned.
  void exchanges(const ir::Iteration& loop) {
    for (const auto& [state, a, b] : loop.states) {
      bool apart = end_of(a) <= buffer(b).at || end_of(b) <= buffer(a).at || end_of(a) == buffer(a).at;
      expect(tasks_.keeps, apart, "b{} and b{} change places, and overlap", a.index(), b.index());
      at(a).partner = b;
      at(b).partner = a;
    }
  }

  // What kernels want of constants, made once: as if all of it were done at a time. What is made is the kernels' own affair.
  void prepare(const ir::Sequence& sequence) {
    for (const ir::Batch& batch : sequence)
      for (const ir::ScheduledTask& task : batch) {
        const auto& call = std::get<ir::KernelCall>(task.what);
        Contents& made = at(call.buffers[1]).contents = {at(call.buffers[0]).contents.value};
        made.prepared_by = call.kernel;
        take(call.buffers[1], call.buffers[1]);
      }
  }
  bool is_prepared(BufferId id, const Run& run, std::size_t operand) {
    const Contents& contents = at(id).contents;
    if (buffer(id).place != ir::BufferPlace::prepared) return false;
    for (const ir::Preparation& how : s_.prepared[run.side.operation->op.index()]) {
      bool so = contents.value == run.side.operands[operand] && contents.prepared_by == how.kernel;
      expect(tasks_.does, how.operand != operand || so, "operand {} is not prepared as its kernel wants it", operand);
    }
    return true;
  }

  void outputs() {
    for (std::size_t k = 0; k < graph_.outputs.size(); ++k) {
      const Class value = class_of(graph_.outputs[k], {});
      BoxSet held;
      for (BufferId id : tasks_.outputs[k]) {
        expect(tasks_.does, at(id).contents.hold(value, buffer(id).box), "output {} is not in b{}", k, id.index());
        held.add(buffer(id).box);
      }
      expect(tasks_.does, held.covers(Box::of_shape(graph_[graph_.outputs[k]].type.shape)),
             "a part of output {} is nowhere", k);
    }
  }

  // What the tasks of a batch read is what was there before it.
  void batch(const ir::Batch& batch) {
    ++batch_;
    std::vector<std::vector<Task>> tasks;  // of each, the boxes as which it is looked at
    for (const ir::ScheduledTask& task : batch)
      tasks.push_back(std::visit([this](const auto& one) { return begin(one); }, task.what));
    for (std::size_t k = 0; k < batch.size(); ++k)
      for (const Task& task : tasks[k]) std::visit([&](const auto& one) { end(one, task); }, batch[k].what);
  }

  const Run& run_of(std::size_t number) {
    auto [known, fresh] = runs_.try_emplace(number);
    if (!fresh) return known->second;
    const ir::OperationRef& what = s_.operations[number].what;
    const ir::Graph& graph = places_.graph(what.path);
    return known->second = {places_.side(what, steps_), &graph, &places_.writers_in(graph)};
  }

  // Memory is to be written: what was in it, and in all that overlaps it, is gone unless it is more of the same. Tasks of one
  // operation may write one memory, at points that are apart.
  Contents& write(BufferId id, const Box& cells, const ir::Access* by = nullptr, const Box& points = {}) {
    State& state = at(id);
    bool kept = buffer(id).place == ir::BufferPlace::input || buffer(id).place == ir::BufferPlace::prepared;
    expect(tasks_.keeps, !kept, "an input or what is prepared is written: b{}", id.index());
    expect(tasks_.keeps, buffer(id).box.contains(cells), "b{} is written outside of its box", id.index());
    expect(tasks_.keeps, state.read_in != batch_, "b{} is written while another task reads it", id.index());
    if (state.written_in != batch_) state.written_in = batch_, state.written = {}, state.by = by;
    bool apart = !state.written.meets(by ? points : cells);
    expect(tasks_.keeps, state.by == by && apart, "two tasks of a batch write the same cells of b{}", id.index());
    state.written.add(by ? points : cells);
    if (buffer(id).place != ir::BufferPlace::arena) return state.contents;
    take(id, id);
    if (state.partner.valid()) take(state.partner, id);
    return state.contents;
  }
  // The range of `id` is now its own, or its partner's.
  void take(BufferId id, BufferId writer) {
    const std::int64_t begin = buffer(id).at, end = end_of(id);
    if (begin == end) return;
    std::map<std::int64_t, BufferId>& owners = owners_[buffer(id).place];
    auto it = owners.lower_bound(begin);
    if (it != owners.end() && it->first == begin && it->second == id) return;
    if (it != owners.begin() && end_of(std::prev(it)->second) > begin) --it;
    while (it != owners.end() && it->first < end) {
      for (BufferId other : {it->second, at(it->second).partner}) {
        if (!other.valid() || other == writer) continue;
        bool idle = at(other).read_in != batch_ && at(other).written_in != batch_;
        expect(tasks_.keeps, idle, "b{} lies over b{}, and both are used at a time", writer.index(), other.index());
        at(other).contents = {};
      }
      it = owners.erase(it);
    }
    owners.emplace(begin, id);
  }

  std::vector<Task> begin(const ir::KernelCall& call) {
    const Run& run = run_of(call.operations);
    const ir::Operator& op = *run.side.op;
    std::vector<Task> tasks;
    for (Box& box : in_one(op, call.box, call.row, tasks_.does)) {
      for (const ir::Counter& counter : call.counters) box.dims[counter.dim] = op.dims[counter.dim].range;
      tasks.push_back({&run, points_of(op, box, tasks_.scheduled && !op.region(), tasks_.does)});
      const Box& points = tasks.back().points;
      for (std::size_t k = 0; k < op.operands.size() && !is_idle(op, points); ++k) {
        State& state = at(call.buffers[k]);
        if (!is_prepared(call.buffers[k], run, k)) check_reads(run, k, points, state.contents, tasks_.reads);
        state.read_in = batch_;
      }
    }
    return tasks;
  }
  void end(const ir::KernelCall& call, const Task& task) {
    const ir::Operator& op = *task.run->side.op;
    if (is_idle(op, task.points)) return;
    const BufferId* results = call.buffers.data() + op.operands.size();
    for (std::size_t k = 0; k < op.results.size() && is_whole(op); ++k) {
      const Box whole = Box::of_shape(op.results[k].shape);
      (write(results[k], whole) = {task.run->side.results[k]}).cells.add(whole);
    }
    for (const ir::Access& by : op.writes) {
      const BufferId to = results[by.tensor];
      Contents& contents = write(to, written_by(op, by, task.points), &by, spread_of(op, by, task.points));
      add_written(program_, *task.run, by, task.points, buffer(to).box, contents);
    }
  }

  std::vector<Task> begin(const ir::CopyBox& copy) {
    State& from = at(copy.from);
    bool there = copy.box.empty() || (from.contents.value && from.contents.cells.covers(copy.box));
    expect(tasks_.reads, there, "what is copied from b{} is not there", copy.from.index());
    from.read_in = batch_;
    return {Task{}};
  }
  void end(const ir::CopyBox& copy, const Task&) {
    if (copy.box.empty()) return;
    const Class value = *at(copy.from).contents.value;
    Contents& to = write(copy.to, copy.box);
    if (to.value && to.value != value) to = {};
    to.value = value;
    to.cells.add(copy.box);
  }

  std::vector<Task> begin(const ir::Fill&) { return {Task{}}; }
  void end(const ir::Fill& fill, const Task&) {
    write(fill.buffer, buffer(fill.buffer).box) = {};
    at(fill.buffer).contents.filled = fill.value;
  }

  // Each access has memory of its own, of just the cells that it touches; outside of the tensor it holds the fill.
  std::vector<Task> begin(const ir::OutsideCall& call) {
    const Run& run = run_of(call.operation);
    const ir::Operator& op = *run.side.op;
    check_single(op, call.box, tasks_.does);
    Task task{&run, points_of(op, call.box, false, tasks_.does)};
    for (std::size_t k = 0; k < op.reads.size() && !is_idle(op, task.points); ++k) {
      const ir::Access& read = op.reads[k];
      State& region = at(call.regions[k]);
      const Box all = bounds_of(read, task.points),
                cells = intersect(all, Box::of_shape(op.operands[read.tensor].shape));
      bool there = region.contents.hold(run.side.operands[read.tensor], cells);
      if (read.fill && cells != all) there &= region.contents.filled == op.exprs[*read.fill].value;
      there &= buffer(call.regions[k]).box == all;
      expect(tasks_.does, there, "region {} does not hold its part", k);
      region.read_in = batch_;
    }
    return {task};
  }
  void end(const ir::OutsideCall& call, const Task& task) {
    const Run& run = *task.run;
    const ir::Operator& op = *run.side.op;
    for (std::size_t k = 0; k < op.writes.size() && !is_idle(op, task.points); ++k) {
      const ir::Access& by = op.writes[k];
      const BufferId id = call.regions[op.reads.size() + k];
      const Box all = bounds_of(by, task.points);
      expect(tasks_.does, buffer(id).box == all, "region {} is another", k);
      Contents& contents = write(id, all) = {run.side.results[by.tensor]};
      if (leaves_no_gap(op, by, task.points)) contents.cells.add(all);
      else each_point(by, task.points, 0, [&](const Box& point) { contents.cells.add(bounds_of(by, point)); });
    }
  }
  template <class Visit>
  static void each_point(const ir::Access& by, Box points, std::size_t d, Visit visit) {
    if (d == points.rank()) return visit(points);
    const ir::Range all = points.dims[d];
    const std::int64_t end = is_told_by(by, d) ? all.hi : all.lo + 1;
    for (std::int64_t i = all.lo; i < end; ++i) {
      points.dims[d] = {i, i + 1};
      each_point(by, points, d + 1, visit);
    }
  }

  // From what was there before, the first step leaves the state that the second begins with; and from what a step leaves, a
  // step does so again: memory that nobody wrote in the first step is as it was, and all other is as that step left it.
  std::vector<Task> begin(const ir::Iteration& loop) {
    const Run run = run_of(loop.operation);
    ir::Path body = s_.operations[loop.operation].what.path;
    body.emplace_back(s_.operations[loop.operation].what.operation);
    auto holds = [&](BufferId id, Class value, const char* when) {
      expect(tasks_.does, at(id).contents.hold(value, buffer(id).box), "b{} has not the state {}", id.index(), when);
    };
    for (const auto& [k, now, next] : loop.states) holds(now, run.side.operands[k], "before the first step");
    for (std::int64_t step = loop.steps.lo; step < std::min(loop.steps.hi, loop.steps.lo + 2); ++step) {
      steps_.push_back(step);
      runs_.clear();
      for (const ir::Batch& batch : s_.sequences[loop.body]) this->batch(batch);
      for (const auto& [k, now, next] : loop.states) {
        holds(next, class_of(places_.graph(body).outputs[k], body), "after a step");
        at(now).contents = std::exchange(at(next).contents, {});
      }
      steps_.pop_back();
    }
    runs_.clear();
    for (const auto& [k, now, next] : loop.states) {
      Contents& state = at(now).contents = {run.side.results[k]};
      state.cells.add(buffer(now).box);
    }
    return {Task{}};
  }
  void end(const ir::Iteration&, const Task&) {}

  const ir::Program& program_;
  const Tasks& tasks_;
  const ir::Schedule& s_ = tasks_.schedule;
  const ir::Graph& graph_ = program_[tasks_.graph];
  const ir::GraphClaim claim_{tasks_.graph, tasks_.graph, {}, {}, {}};
  Places places_{program_, claim_, true};
  std::vector<State> states_ = std::vector<State>(s_.buffers.size());  // by buffer
  // Of planned memory, by where they begin.
  std::map<ir::BufferPlace, std::map<std::int64_t, BufferId>> owners_;
  std::size_t batch_ = 0;
  std::vector<std::int64_t> steps_;  // of the repetitions that run
  std::map<std::size_t, Run> runs_;  // by operation of the schedule, in this step
};

}  // namespace

bool run_tasks(const ir::Program& program, const Tasks& tasks, const std::string& where, Verdict& verdict) {
  return Machine(program, tasks).run(verdict, where);
}

void check_schedule(const ir::Program& program, const ir::Schedule& schedule, const std::string& where,
                    Verdict& verdict) {
  auto fault = ir::ill_formed(program, schedule);
  if (!verdict.attempt({}, where, [&] { expect(Obligation::well_formed, !fault, "{}", fault.value_or("")); })) return;
  Tasks tasks{program.main, schedule, {}, Obligation::schedule, Obligation::schedule, Obligation::memory, true};
  tasks.outputs.resize(schedule.outputs.size());
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
    if (schedule.buffers[b].place == ir::BufferPlace::output)
      tasks.outputs[static_cast<std::size_t>(schedule.buffers[b].at)].emplace_back(b);
  if (run_tasks(program, tasks, where, verdict))
    verdict.findings.push_back({Obligation::memory, Standing::proved, where, ""});
}

}  // namespace tap::check
