#include "runtime/library.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <new>

#include "runtime/executor_copy.h"
#include "runtime/processor.h"
#include "support/large_memory.h"

namespace tap::library {

using executor::Message;
using executor::Status;
using tables::Reader;
using tables::Tensor;

struct Context {
  Program program;
  executor::Executor executor = {};
  bool started = false;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // of the text
  char* text = nullptr;
  TensorView* constants = nullptr;  // copies, by number among the inputs; null data of those that are none
};

namespace {

struct Which {
  bool constants;
  bool includes(const Tensor& tensor) const { return (tensor.constant != 0) == constants; }
};

int32_t told(Context& context, Status status, const Message& message) {
  if (status == Status::done) return 0;
  auto* text = static_cast<char*>(malloc(message.size() + 1));
  if (text) memcpy(text, message.text(), message.size() + 1);
  pthread_mutex_lock(&context.mutex);
  free(context.text);
  context.text = text;
  pthread_mutex_unlock(&context.mutex);
  return static_cast<int32_t>(status);
}

void add_name(Message& message, const Reader& tables, const Tensor& tensor) {
  message.add("`").add(tables.text(tensor.name), static_cast<size_t>(tensor.name.bytes)).add("`");
}

// What lies between the first and the last cell.
struct Span {
  uintptr_t begin, end;
  const Tensor* tensor;
  bool written;
};
Span span_of(const Reader& tables, const Tensor& tensor, const TensorView& view, bool written) {
  auto begin = reinterpret_cast<uintptr_t>(view.data);
  if (bytes_of(tables, tensor) == 0) return {begin, begin, &tensor, written};
  if (!view.strides) return {begin, begin + static_cast<uintptr_t>(bytes_of(tables, tensor)), &tensor, written};
  int64_t least = 0, most = 0;
  for (int64_t axis = 0; axis < tensor.extents.count; ++axis) {
    int64_t reach = (tables.words(tensor.extents.at)[axis] - 1) * view.strides[axis] * tensor.element_bytes;
    (reach < 0 ? least : most) += reach;
  }
  return {begin + static_cast<uintptr_t>(least), begin + static_cast<uintptr_t>(most + tensor.element_bytes), &tensor,
          written};
}

int by_begin(const void* a, const void* b) {
  auto x = static_cast<const Span*>(a)->begin, y = static_cast<const Span*>(b)->begin;
  return x < y ? -1 : x > y;
}

// Every tensor with cells is there, and no two cells of a result are one.
Status check_views(const Reader& tables, const tables::List& list, const TensorView* views, bool written,
                   Message& message) {
  for (int64_t k = 0; k < list.count; ++k) {
    const Tensor& tensor = tables.all<Tensor>(list)[k];
    if (bytes_of(tables, tensor) == 0) continue;
    bool folded = false;
    for (int64_t axis = 0; written && views[k].strides && axis < tensor.extents.count; ++axis)
      folded = folded || (views[k].strides[axis] == 0 && tables.words(tensor.extents.at)[axis] > 1);
    if (views[k].data && !folded) continue;
    add_name(message, tables, tensor);
    message.add(folded ? " is a result, and cells of it overlap: an axis has the stride 0"
                       : " is missing: its address is null");
    return Status::wrong_argument;
  }
  return Status::done;
}

// What is written overlaps nothing else.
Status check_overlap(const Reader& tables, const TensorView* inputs, const TensorView* outputs, Message& message) {
  const auto& head = tables.head();
  auto* spans =
      static_cast<Span*>(malloc(static_cast<size_t>(head.inputs.count + head.outputs.count + 1) * sizeof(Span)));
  if (!spans) return Status::no_memory;
  int64_t count = 0;
  for (int64_t k = 0; k < head.inputs.count; ++k)
    spans[count++] = span_of(tables, tables.all<Tensor>(head.inputs)[k], inputs[k], false);
  for (int64_t k = 0; k < head.outputs.count; ++k)
    spans[count++] = span_of(tables, tables.all<Tensor>(head.outputs)[k], outputs[k], true);
  qsort(spans, static_cast<size_t>(count), sizeof(Span), by_begin);
  const Span *any = nullptr, *written = nullptr;  // that reach farthest
  Status status = Status::done;
  for (const Span* s = spans; s < spans + count && status == Status::done; ++s) {
    if (s->begin == s->end) continue;
    const Span* before = s->written ? any : written;
    if (before && before->end > s->begin) {
      add_name(message, tables, *s->tensor);
      message.add(" and ");
      add_name(message, tables, *before->tensor);
      message.add(
          " overlap in memory, or the cells of one lie between those of the other; a result is apart from all else");
      status = Status::wrong_argument;
    }
    if (!any || any->end < s->end) any = s;
    if (s->written && (!written || written->end < s->end)) written = s;
  }
  free(spans);
  return status;
}

Status copy_constant(const Reader& tables, const Tensor& tensor, const TensorView& from, TensorView& to) {
  int64_t bytes = bytes_of(tables, tensor), rank = tensor.extents.count;
  to.data = large_memory(static_cast<uint64_t>(bytes));
  if (!to.data) return Status::no_memory;
  int64_t ours[max_index_dims], theirs[max_index_dims];
  const int64_t* extents = tables.words(tensor.extents.at);
  for (int64_t axis = rank - 1, stride = tensor.element_bytes; axis >= 0; --axis) {
    ours[axis] = stride;
    theirs[axis] = from.strides ? from.strides[axis] * tensor.element_bytes : stride;
    stride *= extents[axis];
  }
  executor::copy_tiles({static_cast<char*>(from.data), theirs}, {static_cast<char*>(to.data), ours}, extents, rank,
                       tensor.element_bytes, 1, 0, 1);
  return Status::done;
}

// Before anything of the program runs.
Status check_processor(const Reader& tables, Message& message) {
  const tables::List& features = tables.head().features;
  int64_t lacking = 0;
  for (int64_t k = 0; k < features.count; ++k) {
    const tables::Text& name = tables.all<tables::Text>(features)[k];
    if (processor::has(tables.text(name), static_cast<size_t>(name.bytes))) continue;
    message.add(lacking++ == 0 ? "the program was compiled for another processor: this one lacks " : ", ");
    message.add(tables.text(name), static_cast<size_t>(name.bytes));
  }
  return lacking == 0 ? Status::done : Status::wrong_processor;
}

Status start(Context& context, const TensorView* constants, const Options* options, Message& message) {
  Reader tables(context.program.tables);
  const auto& head = tables.head();
  if (head.magic != tables::magic || head.version != tables::version) {
    message.add("the library's tables are of another version");
    return Status::wrong_argument;
  }
  if (check_processor(tables, message) != Status::done) return Status::wrong_processor;
  context.constants = static_cast<TensorView*>(calloc(static_cast<size_t>(head.inputs.count + 1), sizeof(TensorView)));
  if (!context.constants) return Status::no_memory;
  for (int64_t k = 0, given = 0; k < head.inputs.count; ++k) {
    const Tensor& tensor = tables.all<Tensor>(head.inputs)[k];
    if (!tensor.constant) continue;
    if (!constants || (!constants[given].data && bytes_of(tables, tensor) > 0)) {
      message.add("the constant ");
      add_name(message, tables, tensor);
      message.add(" is missing");
      return Status::wrong_argument;
    }
    if (copy_constant(tables, tensor, constants[given++], context.constants[k]) != Status::done)
      return Status::no_memory;
  }
  int64_t threads = options ? options->threads : 1;
  if (threads <= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    threads = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  }
  Status status = context.executor.start(
      {context.program.tables, context.program.kernels, options ? options->kernels : nullptr}, threads);
  if (status == Status::done) status = context.executor.prepare(context.constants, message);
  context.started = status == Status::done;
  return status;
}

// All inputs: the constants, and those of this run.
TensorView* all_inputs(const Context& context, const TensorView* given) {
  const auto& head = Reader(context.program.tables).head();
  auto* inputs = static_cast<TensorView*>(malloc(static_cast<size_t>(head.inputs.count + 1) * sizeof(TensorView)));
  if (!inputs) return nullptr;
  for (int64_t k = 0; k < head.inputs.count; ++k) {
    bool constant = Reader(context.program.tables).all<Tensor>(head.inputs)[k].constant != 0;
    inputs[k] = constant ? context.constants[k] : *given++;
  }
  return inputs;
}

Status view_of(const Reader& tables, const Tensor& tensor, const DlTensor* from, TensorView& view, Message& message) {
  const char* problem = nullptr;
  if (!from) problem = " is missing";
  else if (from->device.type != 1) problem = " is not in the memory of the CPU";
  else if (from->type.code != dl_codes[tensor.element] || from->type.bits != 8 * tensor.element_bytes ||
           from->type.lanes != 1)
    problem = " has another element type than the program's";
  else if (from->rank != tensor.extents.count) problem = " has another number of axes than the program's";
  for (int64_t axis = 0; !problem && axis < tensor.extents.count; ++axis)
    if (from->shape[axis] != tables.words(tensor.extents.at)[axis]) problem = " has another shape than the program's";
  if (problem) {
    add_name(message, tables, tensor);
    message.add(problem);
    return Status::wrong_argument;
  }
  view = {static_cast<char*>(from->data) + from->byte_offset, from->strides};
  return Status::done;
}

// Null, and the status set, if one of them does not fit.
TensorView* views_of(const Reader& tables, const tables::List& list, Which which, const DlTensor* const* from,
                     Status& status, Message& message) {
  auto* views = static_cast<TensorView*>(calloc(static_cast<size_t>(list.count + 1), sizeof(TensorView)));
  status = views ? Status::done : Status::no_memory;
  int64_t next = 0;
  for (int64_t k = 0; k < list.count && status == Status::done; ++k) {
    const Tensor& tensor = tables.all<Tensor>(list)[k];
    if (!which.includes(tensor)) continue;
    status = view_of(tables, tensor, from ? from[next] : nullptr, views[next], message);
    ++next;
  }
  if (status == Status::done) return views;
  free(views);
  return nullptr;
}

Context* new_context(const Program& program) {
  void* memory = malloc(sizeof(Context));
  return memory ? new (memory) Context{program} : nullptr;
}

}  // namespace
}  // namespace tap::library

using namespace tap::library;

extern "C" {

int32_t tap_library_prepare(const Program* program, Context** context, const TensorView* constants,
                            const Options* options) {
  *context = new_context(*program);
  if (!*context) return static_cast<int32_t>(Status::no_memory);
  Message message;
  Status status = start(**context, constants, options, message);
  if (status == Status::no_memory) message.add("memory does not suffice");
  return told(**context, status, message);
}

int32_t tap_library_run(Context* context, const TensorView* inputs, const TensorView* outputs) {
  Message message;
  if (!context->started) return static_cast<int32_t>(Status::wrong_argument);
  Reader tables(context->program.tables);
  TensorView* all = all_inputs(*context, inputs);
  Status status = all ? check_views(tables, tables.head().inputs, all, false, message) : Status::no_memory;
  if (status == Status::done) status = check_views(tables, tables.head().outputs, outputs, true, message);
  if (status == Status::done) status = check_overlap(tables, all, outputs, message);
  if (status == Status::done) status = context->executor.run(all, outputs, message);
  free(all);
  return told(*context, status, message);
}

int32_t tap_library_prepare_dlpack(const Program* program, Context** context, const DlTensor* const* constants,
                                   const Options* options) {
  Reader tables(program->tables);
  Message message;
  Status status;
  TensorView* views = views_of(tables, tables.head().inputs, {true}, constants, status, message);
  if (views) {
    int32_t result = tap_library_prepare(program, context, views, options);
    free(views);
    return result;
  }
  *context = new_context(*program);
  return *context ? told(**context, status, message) : static_cast<int32_t>(Status::no_memory);
}

int32_t tap_library_run_dlpack(Context* context, const DlTensor* const* inputs, const DlTensor* const* outputs) {
  Reader tables(context->program.tables);
  Message message;
  Status status;
  TensorView* in = views_of(tables, tables.head().inputs, {false}, inputs, status, message);
  TensorView* out = in ? views_of(tables, tables.head().outputs, {false}, outputs, status, message) : nullptr;
  int32_t result = out ? tap_library_run(context, in, out) : told(*context, status, message);
  free(in);
  free(out);
  return result;
}

size_t tap_library_message(Context* context, char* text, size_t size) {
  pthread_mutex_lock(&context->mutex);
  const char* all = context->text ? context->text : "";
  size_t length = strlen(all), part = length < size ? length : size - 1;
  if (size > 0) {
    memcpy(text, all, part);
    text[part] = 0;
  }
  pthread_mutex_unlock(&context->mutex);
  return length;
}

void tap_library_release(Context* context) {
  if (!context) return;
  context->executor.stop();
  if (context->constants)
    for (int64_t k = 0; k < Reader(context->program.tables).head().inputs.count; ++k) free(context->constants[k].data);
  free(context->constants);
  free(context->text);
  free(context);
}
}
