#include "runtime/executor_bound.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/executor_tasks.h"

namespace tap::executor {

using namespace tables;

namespace {

constexpr int64_t most_listed = 256;

// A copy of the views, in one piece of memory with their strides.
TensorView* own_views(const Reader& tables, const List& list, const TensorView* from) {
  const auto* tensors = tables.all<Tensor>(list);
  size_t words = 0;
  for (int64_t k = 0; k < list.count; ++k) words += static_cast<size_t>(tensors[k].extents.count);
  auto* views = static_cast<TensorView*>(
      malloc(static_cast<size_t>(list.count + 1) * sizeof(TensorView) + words * sizeof(int64_t)));
  if (!views) return nullptr;
  auto* strides = reinterpret_cast<int64_t*>(views + list.count + 1);
  for (int64_t k = 0; k < list.count; ++k) {
    views[k] = from[k];
    if (!from[k].strides) continue;
    const auto rank = static_cast<size_t>(tensors[k].extents.count);
    memcpy(strides, from[k].strides, rank * sizeof(int64_t));
    views[k].strides = strides;
    strides += rank;
  }
  return views;
}

// The calls of a program, and the words of their boxes and arguments.
struct Size {
  int64_t calls = 0, words = 0;
};
// False: the batch is more than kernel calls that one thread makes.
bool add_batch(const Reader& tables, const Batch& batch, int64_t threads, Size& size) {
  if (batch.tiles > 1 && threads > 1) return false;
  for (int64_t t = 0; t < batch.tasks.count; ++t) {
    const Task& task = *tables.at<Task>(tables.words(batch.tasks.at)[t]);
    if (task.kind != kernel_call) return false;
    const auto& call = static_cast<const KernelCall&>(task);
    size.calls += call.repeats;
    if (call.counters.count > 0 || size.calls > most_listed) return false;
    size.words += call.repeats * (call.box.count + call.arguments.count);
  }
  return true;
}

void list(Bound& bound, const Code& code, const Batch& batch, int64_t*& room) {
  Reader tables(code.tables);
  for (int64_t t = 0; t < batch.tasks.count; ++t) {
    const auto& task = static_cast<const KernelCall&>(*tables.at<Task>(tables.words(batch.tasks.at)[t]));
    for (int64_t number = 0; number < task.repeats; ++number) {
      int64_t* box = room;
      room += task.box.count;
      auto** arguments = reinterpret_cast<void**>(room);
      room += task.arguments.count;
      place_call(tables, *bound.call, task, number, box, arguments);
      bound.calls[bound.count++] = {code.kernels[task.kernel], box, arguments, tables.words(task.strides),
                                    task.kernel_tiles};
    }
  }
}

bool has_copies(const Head& head, const Call& call) {
  for (int64_t k = 0; k < head.inputs.count + head.outputs.count; ++k)
    if (call.staged[k]) return true;
  return false;
}

}  // namespace

// Lists the calls of the program, if one thread makes all of them and nobody watches.
void Executor::list_calls(Bound& bound) {
  Reader tables(code_.tables);
  const Head& head = tables.head();
  if (among_ || recorder_ || progress_ || keeper_) return;
  const List& batches = tables.all<Sequence>(head.sequences)[0].batches;
  Size size;
  for (int64_t b = 0; b < batches.count; ++b)
    if (!add_batch(tables, tables.all<Batch>(batches)[b], pool_.threads(), size)) return;
  Call* call = take_call();
  if (!call) return;
  const size_t bytes = static_cast<size_t>(size.calls + 1) * sizeof(BoundCall);
  auto* memory = static_cast<char*>(malloc(bytes + static_cast<size_t>(size.words) * sizeof(int64_t)));
  if (!memory || place_tensors(*call, bound.inputs, bound.outputs) != Status::done || has_copies(head, *call)) {
    free(memory);
    release_call(call);
    return;
  }
  bound.call = call;
  bound.calls = reinterpret_cast<BoundCall*>(memory);
  bound.scratch = head.scratch_bytes > 0 ? scratch_of(*call, 0) : nullptr;
  auto* room = reinterpret_cast<int64_t*>(memory + bytes);
  for (int64_t b = 0; b < batches.count; ++b) list(bound, code_, tables.all<Batch>(batches)[b], room);
}

Bound* bind(Executor& executor, const TensorView* inputs, const TensorView* outputs) {
  Reader tables(executor.code().tables);
  auto* bound = static_cast<Bound*>(calloc(1, sizeof(Bound)));
  if (!bound) return nullptr;
  bound->executor = &executor;
  bound->inputs = own_views(tables, tables.head().inputs, inputs);
  bound->outputs = own_views(tables, tables.head().outputs, outputs);
  if (!bound->inputs || !bound->outputs) {
    unbind(bound);
    return nullptr;
  }
  executor.list_calls(*bound);
  return bound;
}

void unbind(Bound* bound) {
  if (!bound) return;
  if (bound->call) bound->executor->release_call(bound->call);
  free(bound->calls);
  free(bound->inputs);
  free(bound->outputs);
  free(bound);
}

Status run_unlisted(Bound& bound, Message& message) {
  return bound.executor->run(bound.inputs, bound.outputs, message);
}

}  // namespace tap::executor
