#include "runtime/executor.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/executor_copy.h"
#include "runtime/executor_exchange.h"
#include "runtime/executor_progress.h"
#include "runtime/executor_tasks.h"
#include "runtime/executor_walk.h"
#include "support/alignment.h"
#include "support/large_memory.h"
#include "support/portions.h"

namespace tap::executor {

using namespace tables;

namespace {

int64_t aligned(int64_t bytes) { return (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment; }

char* allocate(int64_t bytes) {
  return bytes < 0 ? nullptr : static_cast<char*>(large_memory(static_cast<uint64_t>(bytes)));
}

void free_call(Call* call) {
  if (!call) return;
  free(call->arena);
  free(call->addresses);
  free(call->counters);
  free(call->own);
  free(call->staged);
  free(call->taken);
  free(call->told);
  free(call->views);
  free(call);
}

template <class T>
T* zeros(int64_t count) {
  return static_cast<T*>(calloc(static_cast<size_t>(count < 1 ? 1 : count), sizeof(T)));
}

}  // namespace

Status Executor::start(const Code& code, int64_t threads, const int32_t* pinned_to) {
  code_ = code;
  return pool_.start(threads, pinned_to) ? Status::done : Status::no_memory;
}

void Executor::stop() {
  pool_.stop();
  while (free_calls_) {
    Call* call = free_calls_;
    free_calls_ = call->next;
    free_call(call);
  }
  free(prepared_);
  prepared_ = nullptr;
}

Status Executor::prepare(const TensorView* inputs, Message& message) {
  const Head& head = Reader(code_.tables).head();
  if (head.preparation < 0) return Status::done;
  if (!prepared_) prepared_ = allocate(head.prepared_bytes);
  Call* call = prepared_ ? take_call() : nullptr;
  if (!call) {
    message.add("out of memory: the program's constants need ").add(head.prepared_bytes).add(" bytes");
    return Status::no_memory;
  }
  return run_call(call, head.preparation, inputs, nullptr, message, nullptr);
}

Call* Executor::new_call() const {
  const Head& head = Reader(code_.tables).head();
  auto* call = zeros<Call>(1);
  if (!call) return nullptr;
  call->arena = allocate(head.arena_bytes);
  call->addresses = zeros<void*>(head.buffers.count);
  call->counters = zeros<int64_t>(head.depth);
  call->room_bytes = aligned(head.most_arguments * static_cast<int64_t>(sizeof(OutsideRegion)));
  call->own_bytes = call->room_bytes + aligned(head.scratch_bytes);
  if (pool_.threads() > 1) call->own_bytes += bytes_between_threads;
  call->own = allocate(call->own_bytes * pool_.threads());
  call->staged = zeros<char*>(head.inputs.count + head.outputs.count);
  call->taken =
      reinterpret_cast<Portions::Next*>(allocate(pool_.threads() * static_cast<int64_t>(sizeof(Portions::Next))));
  call->told = reinterpret_cast<Told*>(allocate(pool_.threads() * static_cast<int64_t>(sizeof(Told))));
  call->views = allocate(pool_.threads() > 1 ? pool_.threads() * walk_bytes(head) : 0);
  if (call->arena && call->addresses && call->counters && call->own && call->staged && call->taken && call->told &&
      call->views)
    return call;
  free_call(call);
  return nullptr;
}

Call* Executor::take_call() {
  pthread_mutex_lock(&mutex_);
  Call* call = free_calls_;
  if (call) free_calls_ = call->next;
  pthread_mutex_unlock(&mutex_);
  return call ? call : new_call();
}

void Executor::release_call(Call* call) {
  const Head& head = Reader(code_.tables).head();
  for (int64_t k = 0; k < head.inputs.count + head.outputs.count; ++k) {
    free(call->staged[k]);
    call->staged[k] = nullptr;
  }
  pthread_mutex_lock(&mutex_);
  call->next = free_calls_;
  free_calls_ = call;
  pthread_mutex_unlock(&mutex_);
}

namespace {

// Copies between the caller's tensor and a row-major one.
void copy_whole(const Reader& tables, const Tensor& tensor, const TensorView& view, char* row_major, bool to_view) {
  const int64_t* extents = tables.words(tensor.extents.at);
  int64_t rank = tensor.extents.count, ours[max_index_dims], theirs[max_index_dims];
  for (int64_t axis = rank - 1, stride = tensor.element_bytes; axis >= 0; --axis) {
    ours[axis] = stride;
    theirs[axis] = view.strides[axis] * tensor.element_bytes;
    stride *= extents[axis];
  }
  Strided plain{row_major, ours}, other{static_cast<char*>(view.data), theirs};
  copy_tiles(to_view ? plain : other, to_view ? other : plain, extents, rank, tensor.element_bytes, 1, 0, 1);
}

bool is_usable_in_place(const Reader& tables, const Tensor& tensor, const TensorView& view) {
  if (reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(tensor.element_bytes) != 0) return false;
  return !view.strides || is_row_major(tables.words(tensor.extents.at), view.strides, tensor.extents.count, 1);
}

}  // namespace

// Kernels need contiguous rows: a tensor with other strides is copied. Without outputs, only constants are present.
Status Executor::place_tensors(Call& call, const TensorView* inputs, const TensorView* outputs) const {
  Reader tables(code_.tables);
  const Head& head = tables.head();
  auto place = [&](const Tensor& tensor, const TensorView& view, char*& staged, bool copy) -> char* {
    if (is_usable_in_place(tables, tensor, view)) return static_cast<char*>(view.data);
    staged = allocate(bytes_of(tables, tensor));
    if (staged && copy) {
      if (view.strides) copy_whole(tables, tensor, view, staged, false);
      else memcpy(staged, view.data, static_cast<size_t>(bytes_of(tables, tensor)));
    }
    return staged;
  };
  const auto* buffers = tables.all<Buffer>(head.buffers);
  for (int64_t b = 0; b < head.buffers.count; ++b) {
    const Buffer& buffer = buffers[b];
    if (buffer.place == in_arena) {
      call.addresses[b] = call.arena + buffer.at;
      continue;
    }
    if (buffer.place == in_prepared) {
      call.addresses[b] = prepared_ + buffer.at;
      continue;
    }
    bool in = buffer.place == is_input;
    const Tensor& tensor = tables.all<Tensor>(in ? head.inputs : head.outputs)[buffer.at];
    if (!outputs && (!in || !tensor.constant)) continue;
    char*& staged = call.staged[in ? buffer.at : head.inputs.count + buffer.at];
    call.addresses[b] = place(tensor, (in ? inputs : outputs)[buffer.at], staged, in);
    if (!call.addresses[b] && buffer.bytes > 0) return Status::no_memory;
  }
  return Status::done;
}

void Executor::deliver(Call& call, const TensorView* outputs) const {
  Reader tables(code_.tables);
  const Head& head = tables.head();
  for (int64_t k = 0; k < head.outputs.count; ++k) {
    const Tensor& tensor = tables.all<Tensor>(head.outputs)[k];
    char* staged = call.staged[head.inputs.count + k];
    if (!staged) continue;
    if (outputs[k].strides) copy_whole(tables, tensor, outputs[k], staged, true);
    else memcpy(outputs[k].data, staged, static_cast<size_t>(bytes_of(tables, tensor)));
  }
}

Status Executor::run(const TensorView* inputs, const TensorView* outputs, Message& message, Message* result) {
  const Head& head = Reader(code_.tables).head();
  for (int64_t k = 0; k < head.outside.count; ++k) {
    if (code_.outside && code_.outside[k]) continue;
    const Text& symbol = Reader(code_.tables).all<Text>(head.outside)[k];
    message.add("the outside kernel `").add(Reader(code_.tables).text(symbol), static_cast<size_t>(symbol.bytes));
    message.add("` is not available");
    return Status::missing_kernel;
  }
  Call* call = take_call();
  if (!call) {
    message.add("out of memory: the program needs ").add(head.arena_bytes).add(" bytes");
    return Status::no_memory;
  }
  return run_call(call, 0, inputs, outputs, message, result);
}

Status Executor::run_call(Call* call, int64_t sequence, const TensorView* inputs, const TensorView* outputs,
                          Message& message, Message* result) {
  call->message = &message;
  call->result = result;
  call->among = outputs ? among_ : nullptr;  // every process prepares its own constants
  call->recorder = recorder_;
  call->progress = outputs ? progress_ : nullptr;
  call->keeper = outputs ? keeper_ : nullptr;
  Status status = place_tensors(*call, inputs, outputs);
  if (status == Status::no_memory) message.add("out of memory for a copy of a strided tensor");
  else if (pool_.threads() > 1 && !call->among && !call->recorder && !call->progress && !call->keeper)
    status = run_walk(*call, sequence);
  else status = run_sequence(*call, sequence, 0);
  if (status == Status::done && outputs) deliver(*call, outputs);
  if (call->progress) call->progress->activity = Activity::finished;
  release_call(call);
  return status;
}

// Where no process takes part and nobody looks on.
Status Executor::run_walk(Call& call, int64_t sequence) {
  Walk walk(code_, call, pool_);
  walk.run(sequence);
  const Walk::Failure& failure = walk.failure();
  if (failure.order == INT64_MAX) return Status::done;
  Call failed = call;
  failed.addresses = failure.addresses;
  failed.counters = failure.counters;
  return report(failed, *failure.batch, failure.depth, failure.order);
}

Status Executor::run_sequence(Call& call, int64_t sequence, int64_t depth) {
  Reader tables(code_.tables);
  const List& batches = tables.all<Sequence>(tables.head().sequences)[sequence].batches;
  for (int64_t b = 0; b < batches.count; ++b) {
    const Batch& batch = tables.all<Batch>(batches)[b];
    call.sequence = sequence;
    call.batch = b;
    call.keeping = call.keeper && depth == 0;
    const Task& first = *tables.at<Task>(*tables.words(batch.tasks.at));
    Status status = first.kind == iteration ? run_iteration(call, static_cast<const Iteration&>(first), depth)
                                            : run_batch(call, batch, depth);
    if (status != Status::done) return status;
  }
  return Status::done;
}

Status Executor::run_iteration(Call& call, const Iteration& task, int64_t depth) {
  Reader tables(code_.tables);
  const auto* states = tables.all<State>(task.states);
  const Keeper* keeper = call.keeping ? call.keeper : nullptr;
  const int64_t batch = call.batch;
  int64_t first = task.first;
  if (keeper) first = keeper->begin_trips(keeper->self, batch, call.addresses);
  if (first < task.first) return Status::lost_process;
  for (int64_t step = first; step < task.end; ++step) {
    call.counters[depth] = step;
    Status status = run_sequence(call, task.body, depth + 1);
    if (status != Status::done) return status;
    for (int64_t s = 0; s < task.states.count; ++s) {
      void* now = call.addresses[states[s].now];
      call.addresses[states[s].now] = call.addresses[states[s].next];
      call.addresses[states[s].next] = now;
    }
    if (keeper) keeper->trip(keeper->self, batch, step + 1, call.addresses);
  }
  return Status::done;
}

// A batch that threads run together.
struct BatchRun {
  const Executor& executor;
  const Call& call;
  const Batch& batch;
  int64_t depth;
  Portions portions;
  int64_t failed_order = INT64_MAX;  // the least order of a failed task

  void fail(int64_t order) {
    int64_t least = __atomic_load_n(&failed_order, __ATOMIC_RELAXED);
    while (order < least &&
           !__atomic_compare_exchange_n(&failed_order, &least, order, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
  }

  void work(int64_t thread) {
    BatchTiles tiles(executor.code_, call, batch, depth, thread);
    for (int64_t begin, end; portions.take(call.taken, thread, &begin, &end);) {
      note_portion(call);
      if (const int64_t order = tiles.run(begin, end); order != INT64_MAX) fail(order);
    }
  }
};

void Executor::share(void* batch, int64_t thread) { static_cast<BatchRun*>(batch)->work(thread); }

namespace {

// Of a run that goes on, some tiles are there.
Tiles known_of(const Call& call, const Batch& batch, int64_t threads) {
  if (threads == 1 && !call.progress) return Tiles::one_thread;
  const auto sharing = static_cast<Tiles>(batch.sharing);
  return sharing == Tiles::equal_work && call.keeping ? Tiles::any_work : sharing;
}

}  // namespace

Status Executor::run_batch(Call& call, const Batch& batch, int64_t depth) {
  const Portions portions(batch.tiles, pool_.threads(), known_of(call, batch, pool_.threads()));
  Portions::begin(call.taken, portions.ranges());
  if (call.progress) note_batch(Reader(code_.tables), call, batch, portions.count());
  BatchTime time{call.sequence, call.batch, call.counters, depth, {}, {}};
  if (call.recorder) time.time.began = nanoseconds();
  Exchange exchange(code_, call, batch);
  if (call.among)
    if (Status status = exchange.start(); status != Status::done) return status;
  if (call.keeping) call.keeper->begin(call.keeper->self, call.batch, call.addresses);
  BatchRun run{*this, call, batch, depth, portions};
  if (is_shared(batch)) pool_.run(share, &run);
  else run.work(0);
  if (run.failed_order != INT64_MAX) return report(call, batch, depth, run.failed_order);
  if (call.among) {
    note_exchange(call);
    if (Status status = exchange.finish(time.waiting); status != Status::done) return status;
  }
  if (!call.recorder) return Status::done;
  time.time.ended = nanoseconds();
  if (call.recorder->batch(call.recorder->self, time) != 0) call.recorder = nullptr;
  return Status::done;
}

// Of several failures of one operation, reports the first in the order of its index space, whatever the tiles and
// threads: runs its tasks again, each tile alone.
Status Executor::report(Call& call, const Batch& batch, int64_t depth, int64_t order) {
  Reader tables(code_.tables);
  KernelError least, error;
  int32_t why = 0;
  const Operation* operation = nullptr;
  call.recorder = nullptr;
  call.keeping = false;
  auto earlier = [&](int64_t dims) {
    if (error.section != least.section) return error.section < least.section;
    for (int64_t d = 0; d < dims; ++d)
      if (error.point[d] != least.point[d]) return error.point[d] < least.point[d];
    return false;
  };
  for (int64_t t = 0; t < batch.tasks.count; ++t) {
    const Task& task = *tables.at<Task>(tables.words(batch.tasks.at)[t]);
    if (task.order != order) continue;
    int64_t operations = static_cast<const KernelCall&>(task).operations;  // only kernel calls fail
    for (int64_t tile = 0; tile < task.tiles; ++tile) {
      memset(&error, 0, sizeof error);
      LatestCall latest;
      int32_t found = run_tiles(code_, call, task, depth, 0, {t, tile, tile + 1}, latest, &error);
      if (found == 0) continue;
      const Operation& its = tables.all<Operation>(tables.head().operations)[operations + error.section];
      if (why != 0 && !earlier(its.dims.count)) continue;
      why = found;
      least = error;
      operation = &its;
    }
  }
  if (operation) {
    describe(*call.message, tables, *operation, static_cast<KernelFailure>(why), least);
    if (call.result) call.result->add(tables.text(operation->result), static_cast<size_t>(operation->result.bytes));
  }
  return Status::failed;
}

}  // namespace tap::executor
