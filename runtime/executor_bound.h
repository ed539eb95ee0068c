// A run whose tensors stay where they are. Where one thread runs all of it, the calls of kernels are listed once: the boxes,
// addresses and strides of each. A short run then takes little longer than its kernels.
#pragma once

#include "runtime/executor.h"

namespace tap::executor {

// One call of a kernel, as the executor would make it.
struct BoundCall {
  KernelFunction kernel;
  const int64_t* box;
  void* const* arguments;
  const int64_t* strides;
  int64_t tiles;
};

struct Bound {
  Executor* executor;
  TensorView *inputs, *outputs;  // with lists of strides of its own
  Call* call;                    // whose memory the listed calls use; null: nothing is listed
  char* scratch;                 // null: no kernel needs any
  int64_t count;
  BoundCall* calls;
};

// Null if memory runs out. `inputs` and `outputs` as for Executor::run; the tensors must stay. One thread at a time may
// call it.
Bound* bind(Executor& executor, const TensorView* inputs, const TensorView* outputs);
void unbind(Bound* bound);  // before the executor stops; may be null

// Runs all again, with messages.
Status run_unlisted(Bound& bound, Message& message);
// Whether all is done; otherwise run_unlisted() must follow: nothing is listed, or a kernel failed.
inline bool run_listed(const Bound& bound) {
  if (!bound.calls) return false;
  KernelError error;
  for (int64_t k = 0; k < bound.count; ++k) {
    const BoundCall& one = bound.calls[k];
    if (bound.scratch) __builtin_memset(bound.scratch, 0, scratch_state);
    if (one.kernel(one.box, one.arguments, one.strides, bound.scratch, 0, one.tiles, &error) != 0) return false;
  }
  return true;
}

}  // namespace tap::executor
