#include "runtime/executor_tasks.h"

#include <string.h>

#include "runtime/executor_copy.h"
#include "runtime/executor_exchange.h"
#include "runtime/executor_progress.h"

namespace tap::executor {

using namespace tables;

namespace {

struct CallTiles {
  int64_t first, end;
};

// Records the time from its construction to its end.
class Recording {
 public:
  Recording(const Call& call, int64_t thread, TaskTime time) : to_(call.recorder), thread_(thread), time_(time) {
    if (to_) time_.time.began = nanoseconds();
  }
  ~Recording() {
    if (!to_) return;
    time_.time.ended = nanoseconds();
    to_->task(to_->self, thread_, time_);
  }
  Recording(const Recording&) = delete;

 private:
  const Recorder* to_;
  int64_t thread_;
  TaskTime time_;
};

// A thread's own space for arguments; scratch follows.
void* room_of(const Call& call, int64_t thread) { return call.own + thread * call.own_bytes; }

char* address(const Call& call, const Argument& argument) {
  return static_cast<char*>(call.addresses[argument.buffer]) + argument.offset;
}

int32_t run_call(const Code& code, const Call& call, const KernelCall& task, int64_t number, int64_t depth,
                 int64_t thread, CallTiles tiles, bool again, KernelError* error) {
  Reader tables(code.tables);
  int64_t box[2 * max_index_dims];
  auto** arguments = static_cast<void**>(room_of(call, thread));
  place_call(tables, call, task, number, box, arguments);
  const auto* counters = tables.all<Counter>(task.counters);
  for (int64_t c = 0; c < task.counters.count; ++c) {
    int64_t step = call.counters[depth - 1 - counters[c].level];
    box[2 * counters[c].dim] = step;
    box[2 * counters[c].dim + 1] = step + 1;
  }
  if (call.progress) {
    const int64_t last = task.arguments.count - 1;
    note_shard(tables, call, task, box, task.box.count / 2,
               last < 0 ? last
                        : tables.all<Argument>(task.arguments)[last].buffer +
                              number * tables.at<Argument>(task.argument_steps)[last].buffer);
  }
  char* scratch = scratch_of(call, thread);
  if (!again && tables.head().scratch_bytes > 0) memset(scratch, 0, scratch_state);
  const int64_t parts = task.tiles / task.repeats;
  auto begin = [&task, parts](int64_t part) {
    return task.kernel_tiles / parts * part + task.kernel_tiles % parts * part / parts;
  };
  return code.kernels[task.kernel](box, arguments, tables.words(task.strides), scratch, begin(tiles.first),
                                   begin(tiles.end), error);
}

// Whether this process has the buffers that the call writes.
bool runs_here(const Reader& tables, const Call& call, const KernelCall& task, int64_t number) {
  if (!call.among || task.arguments.count == 0) return true;
  const int64_t last = task.arguments.count - 1;
  return has_buffer(tables, call,
                    tables.all<Argument>(task.arguments)[last].buffer +
                        number * tables.at<Argument>(task.argument_steps)[last].buffer);
}

int32_t run_kernel(const Code& code, const Call& call, const KernelCall& task, int64_t depth, int64_t thread,
                   Portion portion, LatestCall& latest, KernelError* error) {
  const int64_t parts = task.tiles / task.repeats;
  for (int64_t at = portion.first; at < portion.end;) {
    int64_t number = at / parts, begin = number * parts;
    int64_t end = portion.end < begin + parts ? portion.end : begin + parts;
    const bool is_kept = call.keeping && !call.keeper->wanted(call.keeper->self, portion.position, number);
    if (is_kept || !runs_here(Reader(code.tables), call, task, number)) {
      at = end;
      continue;
    }
    const Recording recording(call, thread, {portion.position, number, at - begin, end - begin, {}});
    const bool again = latest.position == portion.position && latest.number == number;
    latest = {portion.position, number};
    int32_t why = run_call(code, call, task, number, depth, thread, {at - begin, end - begin}, again, error);
    if (why != 0) return why;
    if (call.keeping) call.keeper->computed(call.keeper->self, portion.position, number, end - at);
    at = end;
  }
  return 0;
}

void run_copy(const Code& code, const Call& call, const Copy& task, int64_t thread, Portion portion) {
  Reader tables(code.tables);
  if (!copies_here(tables, call, task)) return;
  const Recording recording(call, thread, {portion.position, 0, portion.first, portion.end, {}});
  copy_tiles({address(call, task.from), tables.words(task.from_strides)},
             {address(call, task.to), tables.words(task.to_strides)}, tables.words(task.extents.at), task.extents.count,
             task.element_bytes, task.tiles, portion.first, portion.end);
}

void run_fill(const Code& code, const Call& call, const Fill& task, int64_t thread, Portion portion) {
  if (!has_buffer(Reader(code.tables), call, task.buffer)) return;
  const Recording recording(call, thread, {portion.position, 0, portion.first, portion.end, {}});
  char* to = static_cast<char*>(call.addresses[task.buffer]);
  for (int64_t k = 0; k < task.count; ++k)
    memcpy(to + k * task.element_bytes, &task.value, static_cast<size_t>(task.element_bytes));
}

void run_outside(const Code& code, const Call& call, const OutsideCall& task, int64_t thread, Portion portion) {
  Reader tables(code.tables);
  auto* regions = static_cast<OutsideRegion*>(room_of(call, thread));
  const auto* from = tables.all<Region>(task.regions);
  if (task.regions.count > 0 && !has_buffer(tables, call, from[task.regions.count - 1].buffer)) return;
  if (call.keeping && !call.keeper->wanted(call.keeper->self, portion.position, 0)) return;
  const Recording recording(call, thread, {portion.position, 0, portion.first, portion.end, {}});
  for (int64_t r = 0; r < task.regions.count; ++r)
    regions[r] = {call.addresses[from[r].buffer], tables.words(from[r].extents), tables.words(from[r].strides)};
  note_shard(tables, call, task, tables.words(task.box.at), task.box.count / 2,
             task.regions.count > 0 ? from[task.regions.count - 1].buffer : -1);
  code.outside[task.number](tables.words(task.box.at), tables.words(task.extents), regions);
  if (call.keeping) call.keeper->computed(call.keeper->self, portion.position, 0, portion.end - portion.first);
}

}  // namespace

void place_call(const Reader& tables, const Call& call, const KernelCall& task, int64_t number, int64_t* box,
                void** arguments) {
  const int64_t *first = tables.words(task.box.at), *step = tables.words(task.box_step);
  for (int64_t k = 0; k < task.box.count; ++k) box[k] = first[k] + number * step[k];
  const auto* of = tables.all<Argument>(task.arguments);
  const auto* by = tables.at<Argument>(task.argument_steps);
  for (int64_t k = 0; k < task.arguments.count; ++k)
    arguments[k] = address(call, {of[k].buffer + number * by[k].buffer, of[k].offset + number * by[k].offset});
}

int32_t run_tiles(const Code& code, const Call& call, const Task& task, int64_t depth, int64_t thread, Portion portion,
                  LatestCall& latest, KernelError* error) {
  switch (static_cast<TaskKind>(task.kind)) {
    case kernel_call:
      return run_kernel(code, call, static_cast<const KernelCall&>(task), depth, thread, portion, latest, error);
    case copy_box: run_copy(code, call, static_cast<const Copy&>(task), thread, portion); return 0;
    case fill_buffer: run_fill(code, call, static_cast<const Fill&>(task), thread, portion); return 0;
    case outside_call: run_outside(code, call, static_cast<const OutsideCall&>(task), thread, portion); return 0;
    case iteration: break;  // has its own batch (executor.cpp)
  }
  return 0;
}

int64_t BatchTiles::run(int64_t begin, int64_t end) {
  const Reader tables(code_.tables);
  int64_t failed = INT64_MAX;
  if (begin < before_) task_ = before_ = 0;  // of another thread's range
  while (begin < end) {
    const Task* task = tables.at<Task>(tasks_[task_]);
    for (; begin >= before_ + task->tiles; task = tables.at<Task>(tasks_[++task_])) before_ += task->tiles;
    const int64_t stop = end < before_ + task->tiles ? end : before_ + task->tiles;
    const Portion portion{task_, begin - before_, stop - before_};
    if (run_tiles(code_, call_, *task, depth_, thread_, portion, latest_, &error_) != 0 && task->order < failed)
      failed = task->order;
    begin = stop;
  }
  return failed;
}

}  // namespace tap::executor
