#include "runtime/library.h"

#include <stdlib.h>
#include <string.h>

#include <new>

#include "runtime/executor_bound.h"
#include "runtime/executor_copy.h"
#include "runtime/library_context.h"
#include "runtime/library_views.h"
#include "runtime/processor.h"
#include "runtime/processors.h"
#include "support/large_memory.h"

namespace tap::library {

namespace {

struct Which {
  bool constants;
  bool includes(const Tensor& tensor) const { return (tensor.constant != 0) == constants; }
};

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

bool copy_kernels(Context& context, int64_t count, const OutsideFunction* from) {
  auto bytes = static_cast<size_t>(count) * sizeof(OutsideFunction);
  context.kernels = static_cast<OutsideFunction*>(malloc(bytes + 1));
  if (context.kernels) memcpy(context.kernels, from, bytes);
  return context.kernels != nullptr;
}

// Before any code of the program runs.
Status check_processor(const Reader& tables, Message& message) {
  const tables::List& features = tables.head().features;
  int64_t lacking = 0;
  for (int64_t k = 0; k < features.count; ++k) {
    const tables::Text& name = tables.all<tables::Text>(features)[k];
    if (processor::has(tables.text(name), static_cast<size_t>(name.bytes))) continue;
    message.add(lacking++ == 0 ? "the program was compiled for a different processor; this one lacks " : ", ");
    message.add(tables.text(name), static_cast<size_t>(name.bytes));
  }
  return lacking == 0 ? Status::done : Status::wrong_processor;
}

// All inputs: the constants, and those of this run, if given.
TensorView* all_inputs(const Context& context, const TensorView* given) {
  const auto& head = Reader(context.program.tables).head();
  auto* inputs = static_cast<TensorView*>(malloc(static_cast<size_t>(head.inputs.count + 1) * sizeof(TensorView)));
  if (!inputs) return nullptr;
  for (int64_t k = 0; k < head.inputs.count; ++k) {
    bool constant = Reader(context.program.tables).all<Tensor>(head.inputs)[k].constant != 0;
    inputs[k] = constant ? context.constants[k] : given ? *given++ : TensorView{};
  }
  return inputs;
}

// Null, with the status set, if one of them is invalid.
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

// Does something with all inputs, if these and the outputs are valid.
template <class Do>
int32_t with_checked(Context* context, const TensorView* inputs, const TensorView* outputs, Do what) {
  Message message;
  if (!context || !context->started) return static_cast<int32_t>(Status::wrong_argument);
  Reader tables(context->program.tables);
  TensorView* all = all_inputs(*context, inputs);
  Status status = all ? check_views(tables, tables.head().inputs, all, false, message) : Status::no_memory;
  if (status == Status::done) status = check_views(tables, tables.head().outputs, outputs, true, message);
  if (status == Status::done) status = check_overlap(tables, all, outputs, message);
  if (status == Status::done) status = what(all, message);
  free(all);
  return report(*context, status, message);
}

}  // namespace

int32_t report(Context& context, Status status, const Message& message) {
  if (status == Status::done) return 0;
  auto* text = static_cast<char*>(malloc(message.size() + 1));
  if (text) memcpy(text, message.text(), message.size() + 1);
  pthread_mutex_lock(&context.mutex);
  free(context.text);
  context.text = text;
  pthread_mutex_unlock(&context.mutex);
  return static_cast<int32_t>(status);
}

int64_t threads_of(const Options* options) {
  if (!options || options->threads > 0) return options ? options->threads : 1;
  return processors::default_threads();
}

Status start(Context& context, const TensorView* constants, const Options* options, Message& message) {
  Reader tables(context.program.tables);
  const auto& head = tables.head();
  if (head.magic != tables::magic || head.version != tables::version) {
    message.add("the library's tables have an unsupported version");
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
  const int64_t threads = threads_of(options);
  if (options && options->kernels && !copy_kernels(context, head.outside.count, options->kernels))
    return Status::no_memory;
  context.executor.distribute(context.job.mpi ? &context.among : nullptr);
  Status status = context.executor.start({context.program.tables, context.program.kernels, context.kernels}, threads);
  if (status == Status::done) status = context.executor.prepare(context.constants, message);
  context.started = status == Status::done;
  return status;
}

Context* new_context(const Program& program) {
  void* memory = malloc(sizeof(Context));
  return memory ? new (memory) Context{program} : nullptr;
}

}  // namespace tap::library

using namespace tap::library;

extern "C" {

int32_t tap_library_prepare(const Program* program, Context** context, const TensorView* constants,
                            const Options* options) {
  *context = new_context(*program);
  if (!*context) return static_cast<int32_t>(Status::no_memory);
  Message message;
  Status status = start(**context, constants, options, message);
  if (status == Status::no_memory) message.add("out of memory");
  return report(**context, status, message);
}

int32_t tap_library_run(Context* context, const TensorView* inputs, const TensorView* outputs) {
  return with_checked(context, inputs, outputs, [&](const TensorView* all, Message& message) {
    Status status = context->executor.run(all, outputs, message);
    if (status == Status::lost_process) message.add("a message of another process did not arrive");
    return status;
  });
}

// Checked once; the tensors are the same in each call.
int32_t tap_library_bind(Context* context, const TensorView* inputs, const TensorView* outputs, BoundRun** bound) {
  *bound = nullptr;
  return with_checked(context, inputs, outputs, [&](const TensorView* all, Message&) {
    auto* made = static_cast<BoundRun*>(malloc(sizeof(BoundRun)));
    tap::executor::Bound* calls = made ? tap::executor::bind(context->executor, all, outputs) : nullptr;
    if (!calls) {
      free(made);
      return Status::no_memory;
    }
    *made = {calls, context};
    *bound = made;
    return Status::done;
  });
}

int32_t tap_library_call(BoundRun* bound) {
  if (tap::executor::run_listed(*bound->calls)) return 0;
  Message message;
  Status status = tap::executor::run_unlisted(*bound->calls, message);
  if (status == Status::lost_process) message.add("a message of another process did not arrive");
  return report(*bound->context, status, message);
}

void tap_library_unbind(BoundRun* bound) {
  if (!bound) return;
  tap::executor::unbind(bound->calls);
  free(bound);
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
  return *context ? report(**context, status, message) : static_cast<int32_t>(Status::no_memory);
}

int32_t tap_library_run_dlpack(Context* context, const DlTensor* const* inputs, const DlTensor* const* outputs) {
  Reader tables(context->program.tables);
  Message message;
  Status status;
  TensorView* in = views_of(tables, tables.head().inputs, {false}, inputs, status, message);
  TensorView* out = in ? views_of(tables, tables.head().outputs, {false}, outputs, status, message) : nullptr;
  int32_t result = out ? tap_library_run(context, in, out) : report(*context, status, message);
  free(in);
  free(out);
  return result;
}

size_t tap_library_message(Context* context, char* text, size_t size) {
  if (context) pthread_mutex_lock(&context->mutex);
  const char* all = !context ? "out of memory: the context is null" : context->text ? context->text : "";
  size_t length = strlen(all), part = length < size ? length : size - 1;
  if (size > 0) {
    memcpy(text, all, part);
    text[part] = 0;
  }
  if (context) pthread_mutex_unlock(&context->mutex);
  return length;
}

void tap_library_release(Context* context) {
  if (!context) return;
  context->executor.stop();
  if (context->job.mpi) context->job.mpi->leave(context->job.job);
  if (context->constants)
    for (int64_t k = 0; k < Reader(context->program.tables).head().inputs.count; ++k) free(context->constants[k].data);
  free(context->constants);
  free(context->kernels);
  free(context->text);
  free(context);
}
}
