// A prepared program, behind the functions of library.h.
#pragma once

#include <pthread.h>

#include "runtime/executor_bound.h"
#include "runtime/library_views.h"
#include "runtime/mpi_job.h"

namespace tap::library {

struct Context {
  Program program;
  executor::Executor executor = {};
  bool started = false;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // for the text
  char* text = nullptr;
  OutsideFunction* kernels = nullptr;  // the caller's, copied
  TensorView* constants = nullptr;     // copies, by number of the input; null data for other inputs
  executor::MpiJob job = {};           // if other processes take part
  executor::Distribution among = {};
};

struct BoundRun {
  executor::Bound* calls;
  Context* context;
};

// Null: out of memory.
Context* new_context(const Program& program);
Status start(Context& context, const TensorView* constants, const Options* options, Message& message);
int64_t threads_of(const Options* options);
// The status, with its message for `tap_library_message`.
int32_t report(Context& context, Status status, const Message& message);

}  // namespace tap::library
