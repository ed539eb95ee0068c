// Runs a schedule (schedule_tables.h) with its kernels. `tapc run` and compiled libraries use the same code, which
// needs only the C library and threads.
//
//   Executor executor;
//   executor.start({tables, kernels}, threads);
//   executor.run(inputs, outputs, message);      // from any number of threads at a time
//   executor.stop();
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "runtime/distribution.h"
#include "runtime/executor_message.h"
#include "runtime/executor_pool.h"
#include "runtime/keeper.h"
#include "runtime/kernel_abi.h"
#include "runtime/recorder.h"
#include "runtime/schedule_tables.h"

namespace tap::executor {

struct Code {
  const int64_t* tables = nullptr;
  const KernelFunction* kernels = nullptr;
  const OutsideFunction* outside = nullptr;  // by number; null if missing
};

struct TensorView {
  void* data = nullptr;
  const int64_t* strides = nullptr;  // in elements; null: row-major
};

enum class Status : int32_t {
  done = 0,
  failed = 1,  // the program failed, for example by a division by zero; the message has the location
  no_memory = 2,
  missing_kernel = 3,   // an outside kernel is missing
  wrong_argument = 4,   // by the caller of a compiled library
  wrong_processor = 5,  // it lacks features that the compiled library needs
  lost_process = 6,     // a message of another process did not arrive
  no_mpi = 7,           // MPI cannot be used, or its shim is missing
};

struct Bound;
struct Call;
struct BatchRun;

class Executor {
 public:
  // The code must outlive the executor.
  Status start(const Code& code, int64_t threads, const int32_t* pinned_to = nullptr);  // executor_pool.h
  void stop();

  // From now on runs are shared with other processes, which run the same schedule. Null: this process runs all of it.
  void distribute(const Distribution* among) {
    among_ = among;
    if (among) progress_ = among->progress;
  }
  // From now on runs are recorded, or their progress is noted. Null: they are not.
  void record(const Recorder* to) { recorder_ = to; }
  void watch(Progress* progress) { progress_ = progress; }
  // From now on results of runs are kept, or taken from earlier runs; one run at a time. Null: they are not.
  void keep(const Keeper* keeper) { keeper_ = keeper; }

  // Call once, before the first run, with the constants at their places among the inputs; no run may be active.
  Status prepare(const TensorView* inputs, Message& message);

  // Inputs and outputs as in the tables; outputs must not alias anything. `result`, if given, receives the name of the
  // value whose operation failed.
  Status run(const TensorView* inputs, const TensorView* outputs, Message& message, Message* result = nullptr);
  // For tensors that stay where they are (executor_bound.h).
  void list_calls(Bound& bound);
  const Code& code() const { return code_; }
  int64_t threads() const { return pool_.threads(); }

 private:
  Call* take_call();
  void release_call(Call* call);
  Call* new_call() const;
  Status place_tensors(Call& call, const TensorView* inputs, const TensorView* outputs) const;
  void deliver(Call& call, const TensorView* outputs) const;
  // Runs a sequence, then puts the call back on the free list. Without outputs only the constants are present.
  Status run_call(Call* call, int64_t sequence, const TensorView* inputs, const TensorView* outputs, Message& message,
                  Message* result);
  Status run_walk(Call& call, int64_t sequence);
  Status run_sequence(Call& call, int64_t sequence, int64_t depth);
  Status run_iteration(Call& call, const tables::Iteration& task, int64_t depth);
  Status run_batch(Call& call, const tables::Batch& batch, int64_t depth);
  Status report(Call& call, const tables::Batch& batch, int64_t depth, int64_t order);
  static void share(void* batch, int64_t thread);

  friend struct BatchRun;
  friend void unbind(Bound* bound);
  Code code_;
  Pool pool_;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  Call* free_calls_ = nullptr;  // reused by later runs
  char* prepared_ = nullptr;    // shared by all runs
  const Distribution* among_ = nullptr;
  const Recorder* recorder_ = nullptr;
  Progress* progress_ = nullptr;
  const Keeper* keeper_ = nullptr;
};

}  // namespace tap::executor
