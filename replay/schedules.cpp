// Schedules: run in order, with repetitions by induction, the tasks leave every output in its place; and no task works on
// memory that another still needs, or that another task of its batch works on.
#include <utility>

#include "check/justify.h"
#include "ir/well_formed.h"
#include "replay/execution.h"
#include "replay/replay.h"

namespace tap::check {

namespace {

constexpr auto schedule = Obligation::schedule, memory = Obligation::memory;

class ScheduleCheck {
 public:
  ScheduleCheck(const ir::Program& program, const ir::Schedule& s) : program_(program), s_(s) {}

  void run(Verdict& verdict, const std::string& where) {
    bool all = verdict.attempt({}, where, [&] { inputs(), exchanges(); });
    if (all) all = verdict.attempt({}, where, [&] { prepare(), sequence(0); });
    if (all) verdict.attempt(schedule, where, [&] { outputs(); });
    if (all) verdict.findings.push_back({memory, Standing::proved, where, ""});
  }

 private:
  using BufferId = ir::BufferId;
  struct Task {  // that has begun
    const Run* run = nullptr;
    Ranges points = {};
  };
  struct State {
    Contents contents = {};
    BufferId partner = {};                    // with which it changes places
    std::size_t read_in = 0, written_in = 0;  // the batch in which it was last
    Boxes written = {};                       // in that batch
    const ir::Access* by = nullptr;           // whose points those are; none: cells of copies
  };

  State& at(BufferId id) { return states_[id.index()]; }
  const ir::Buffer& buffer(BufferId id) const { return s_.buffers[id.index()]; }
  Class class_of(ir::ValueId v, const ir::Path& path) { return places_.class_of(path, v, steps_); }
  std::int64_t end_of(BufferId id) const {
    std::int64_t bytes = static_cast<std::int64_t>(size_of(buffer(id).element));
    for (ir::Range r : buffer(id).box.dims) bytes = checked::mul(bytes, std::max<std::int64_t>(0, r.hi - r.lo));
    return checked::add(buffer(id).at, bytes);
  }

  void inputs() {
    for (std::size_t b = 0; b < s_.buffers.size(); ++b) {
      const ir::Buffer& buffer = s_.buffers[b];
      bool fits = buffer.place != ir::BufferPlace::arena || end_of(BufferId(b)) <= s_.arena_bytes;
      expect(memory, fits, "b{} ends behind the arena", b);
      if (buffer.place != ir::BufferPlace::input) continue;
      states_[b].contents.value = class_of(main_.inputs[static_cast<std::size_t>(buffer.at)], {});
      states_[b].contents.cells.add(buffer.box.dims);
    }
  }

  // Two memories that change places are one, as far as others are concerned.
  void exchanges() {
    for (const ir::Sequence& sequence : s_.sequences)
      for (const ir::Batch& batch : sequence)
        for (const ir::ScheduledTask& task : batch)
          if (auto* loop = std::get_if<ir::Iteration>(&task.what))
            for (auto [a, b] : loop->states) {
              bool apart = end_of(a) <= buffer(b).at || end_of(b) <= buffer(a).at || end_of(a) == buffer(a).at;
              expect(memory, apart, "b{} and b{} change places, and overlap", a.index(), b.index());
              at(a).partner = b;
              at(b).partner = a;
            }
  }

  void outputs() {
    for (std::size_t k = 0; k < main_.outputs.size(); ++k) {
      const Class value = class_of(main_.outputs[k], {});
      bool there = no_points(cells_of(s_.outputs[k].type.shape));
      for (std::size_t b = 0; b < s_.buffers.size() && !there; ++b)
        there = s_.buffers[b].place == ir::BufferPlace::output && s_.buffers[b].at == static_cast<std::int64_t>(k) &&
                states_[b].contents.hold(value, s_.buffers[b].box.dims);
      expect(schedule, there, "output {} is not where it is given back", k);
    }
  }

  // What kernels want of constants, made once. What is made is the kernels' own affair.
  void prepare() {
    std::map<std::int64_t, std::int64_t> ranges;
    for (const ir::Batch& batch : s_.preparation ? s_.sequences[*s_.preparation] : ir::Sequence{})
      for (const ir::ScheduledTask& task : batch) {
        const auto& call = std::get<ir::KernelCall>(task.what);
        const BufferId to = call.buffers[1];
        at(to).contents = {at(call.buffers[0]).contents.value};
        at(to).contents.prepared_by = call.kernel;
        auto [range, fresh] = ranges.emplace(buffer(to).at, end_of(to));
        bool apart = fresh && range->second <= s_.prepared_bytes;
        if (range != ranges.begin()) apart &= std::prev(range)->second <= range->first;
        if (std::next(range) != ranges.end()) apart &= range->second <= std::next(range)->first;
        expect(memory, apart || end_of(to) == buffer(to).at, "b{} lies over what else is prepared", to.index());
      }
  }
  bool is_prepared(BufferId id, const Run& run, std::size_t operand) {
    const Contents& contents = at(id).contents;
    if (buffer(id).place != ir::BufferPlace::prepared) return false;
    for (const ir::Preparation& how : s_.prepared[run.side.operation->op.index()]) {
      bool so = contents.value == run.side.operands[operand] && contents.prepared_by == how.kernel;
      expect(schedule, how.operand != operand || so, "operand {} is not prepared as its kernel wants it", operand);
    }
    return true;
  }

  // What the tasks of a batch read is what was there before it.
  void sequence(std::size_t number) {
    for (const ir::Batch& batch : s_.sequences[number]) {
      ++batch_;
      std::vector<Task> tasks;
      for (const ir::ScheduledTask& task : batch)
        tasks.push_back(std::visit([this](const auto& what) { return begin(what); }, task.what));
      for (std::size_t k = 0; k < batch.size(); ++k)
        std::visit([&](const auto& what) { end(what, tasks[k]); }, batch[k].what);
    }
  }

  const Run& run_of(std::size_t number) {
    auto [known, fresh] = runs_.try_emplace(number);
    if (!fresh) return known->second;
    const ir::OperationRef& what = s_.operations[number].what;
    const ir::Graph& graph = places_.graph(what.path);
    return known->second = {places_.side(what, steps_), &graph, &places_.writers_in(graph)};
  }

  // Memory is to be written: what was in it, and in all that overlaps it, is gone unless it is more of the same. Tasks of one
  // operation may write one memory, at points that are apart or on which what is written does not depend.
  Contents& write(BufferId id, const Ranges& cells, const ir::Access* by = nullptr, const Ranges& points = {}) {
    State& state = at(id);
    bool kept = buffer(id).place == ir::BufferPlace::input || buffer(id).place == ir::BufferPlace::prepared;
    expect(memory, !kept, "an input or what is prepared is written: b{}", id.index());
    expect(memory, inside(cells, buffer(id).box.dims), "b{} is written outside of its box", id.index());
    expect(memory, state.read_in != batch_, "b{} is written while another task reads it", id.index());
    if (state.written_in != batch_) state.written_in = batch_, state.written = {}, state.by = by;
    bool apart = !state.written.meet(by ? points : cells) || (by && !by->invariant_dims.empty());
    expect(memory, state.by == by && apart, "two tasks of a batch write the same cells of b{}", id.index());
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
    auto it = owners_.lower_bound(begin);
    if (it != owners_.end() && it->first == begin && it->second == id) return;
    if (it != owners_.begin() && end_of(std::prev(it)->second) > begin) --it;
    while (it != owners_.end() && it->first < end) {
      for (BufferId other : {it->second, at(it->second).partner}) {
        if (!other.valid() || other == writer) continue;
        bool idle = at(other).read_in != batch_ && at(other).written_in != batch_;
        expect(memory, idle, "b{} lies over b{}, and both are used at a time", writer.index(), other.index());
        at(other).contents = {};
      }
      it = owners_.erase(it);
    }
    owners_.emplace(begin, id);
  }

  Task begin(const ir::KernelCall& call) {
    const Run& run = run_of(call.operations);
    const ir::Operator& op = *run.side.op;
    Ranges box = call.box.dims;
    for (const ir::Counter& counter : call.counters) box[counter.dim] = op.dims[counter.dim].range;
    Task task{&run, points_of(op, box, !op.region(), schedule)};
    for (std::size_t k = 0; k < op.operands.size() && !is_idle(op, task.points); ++k) {
      if (!is_prepared(call.buffers[k], run, k))
        check_reads(run, k, task.points, at(call.buffers[k]).contents, schedule);
      at(call.buffers[k]).read_in = batch_;
    }
    return task;
  }
  void end(const ir::KernelCall& call, const Task& task) {
    const ir::Operator& op = *task.run->side.op;
    if (!is_idle(op, task.points))
      for (const ir::Access& by : op.writes) {
        const BufferId to = call.buffers[op.operands.size() + by.tensor];
        Contents& contents = write(to, written_by(op, by, task.points), &by, spread_of(op, by, task.points));
        add_written(program_, *task.run, by, task.points, buffer(to).box.dims, contents);
      }
  }

  Task begin(const ir::CopyBox& copy) {
    const Contents& from = at(copy.from).contents;
    bool there = from.value && from.cells.cover(copy.box.dims);
    expect(schedule, there, "what is copied from b{} is not there", copy.from.index());
    at(copy.from).read_in = batch_;
    return {};
  }
  void end(const ir::CopyBox& copy, const Task&) {
    const std::optional<Class> value = at(copy.from).contents.value;
    Contents& to = write(copy.to, copy.box.dims);
    if (to.value && to.value != value) to = {};
    to.value = value;
    to.cells.add(copy.box.dims);
  }

  Task begin(const ir::Fill&) { return {}; }
  void end(const ir::Fill& fill, const Task&) {
    write(fill.buffer, buffer(fill.buffer).box.dims) = {};
    at(fill.buffer).contents.filled = fill.value;
  }

  // Each access has memory of its own, of just the cells that it touches; outside of the tensor it holds the fill.
  Task begin(const ir::OutsideCall& call) {
    const Run& run = run_of(call.operation);
    const ir::Operator& op = *run.side.op;
    Task task{&run, points_of(op, call.box.dims, false, schedule)};
    for (std::size_t k = 0; k < op.reads.size() && !is_idle(op, task.points); ++k) {
      const ir::Access& read = op.reads[k];
      State& region = at(call.regions[k]);
      const Ranges all = bounds_of(read, task.points), cells = within(all, cells_of(op.operands[read.tensor].shape));
      bool there = region.contents.hold(run.side.operands[read.tensor], cells);
      if (read.fill && cells != all) there &= region.contents.filled == op.exprs[*read.fill].value;
      there &= buffer(call.regions[k]).box.dims == all;
      expect(schedule, there, "region {} does not hold its part", k);
      region.read_in = batch_;
    }
    return task;
  }
  void end(const ir::OutsideCall& call, const Task& task) {
    const Run& run = *task.run;
    const ir::Operator& op = *run.side.op;
    for (std::size_t k = 0; k < op.writes.size() && !is_idle(op, task.points); ++k) {
      const ir::Access& by = op.writes[k];
      const BufferId id = call.regions[op.reads.size() + k];
      const Ranges all = bounds_of(by, task.points);
      expect(schedule, buffer(id).box.dims == all, "region {} is another", k);
      Contents& contents = write(id, all) = {run.side.results[by.tensor]};
      if (leaves_no_gap(op, by, task.points)) contents.cells.add(all);
      else each_point(by, task.points, 0, [&](const Ranges& point) { contents.cells.add(bounds_of(by, point)); });
    }
  }
  template <class Visit>
  static void each_point(const ir::Access& by, Ranges points, std::size_t d, Visit visit) {
    if (d == points.size()) return visit(points);
    const ir::Range all = is_told_by(by, d) ? points[d] : ir::Range{points[d].lo, points[d].lo + 1};
    for (points[d] = {all.lo, all.lo + 1}; points[d].hi <= all.hi; ++points[d].lo, ++points[d].hi)
      each_point(by, points, d + 1, visit);
  }

  // From what was there before, the first step leaves the state that the second begins with; and from what a step leaves, a
  // step does so again: memory that nobody wrote in the first step is as it was, and all other is as that step left it.
  Task begin(const ir::Iteration& loop) {
    const Run run = run_of(loop.operation);
    ir::Path body = s_.operations[loop.operation].what.path;
    body.emplace_back(s_.operations[loop.operation].what.operation);
    auto holds = [&](BufferId id, Class value, const char* when) {
      expect(schedule, at(id).contents.hold(value, buffer(id).box.dims), "b{} has not the state {}", id.index(), when);
    };
    for (std::size_t k = 0; k < loop.states.size(); ++k)
      holds(loop.states[k].first, run.side.operands[k], "before the first step");
    for (std::int64_t step = loop.steps.lo; step < std::min(loop.steps.hi, loop.steps.lo + 2); ++step) {
      steps_.push_back(step);
      runs_.clear();
      sequence(loop.body);
      for (std::size_t k = 0; k < loop.states.size(); ++k) {
        auto [now, next] = loop.states[k];
        holds(next, class_of(places_.graph(body).outputs[k], body), "after a step");
        at(now).contents = std::exchange(at(next).contents, {});
      }
      steps_.pop_back();
    }
    runs_.clear();
    for (std::size_t k = 0; k < loop.states.size(); ++k) {
      Contents& state = at(loop.states[k].first).contents = {run.side.results[k]};
      state.cells.add(buffer(loop.states[k].first).box.dims);
    }
    return {};
  }
  void end(const ir::Iteration&, const Task&) {}

  const ir::Program& program_;
  const ir::Schedule& s_;
  const ir::Graph& main_ = program_[program_.main];
  const ir::GraphClaim claim_{program_.main, program_.main, {}, {}, {}};
  Places places_{program_, claim_, true};
  std::vector<State> states_ = std::vector<State>(s_.buffers.size());  // by buffer
  std::map<std::int64_t, BufferId> owners_;                            // of the arena, by where they begin
  std::size_t batch_ = 0;
  std::vector<std::int64_t> steps_;  // of the repetitions that run
  std::map<std::size_t, Run> runs_;  // by operation of the schedule, in this step
};

}  // namespace

void check_schedule(const ir::Program& program, const ir::Schedule& schedule, const std::string& where,
                    Verdict& verdict) {
  auto fault = ir::ill_formed(program, schedule);
  if (verdict.attempt({}, where, [&] { expect(Obligation::well_formed, !fault, "{}", fault.value_or("")); }))
    ScheduleCheck(program, schedule).run(verdict, where);
}

}  // namespace tap::check
