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

#include "runtime/executor_message.h"
#include "runtime/executor_pool.h"
#include "runtime/kernel_abi.h"
#include "runtime/schedule_tables.h"

namespace tap::executor {

struct Code {
  const int64_t* tables = nullptr;
  const KernelFunction* kernels = nullptr;
  const OutsideFunction* outside = nullptr;  // by number; one that is missing is null
};

struct TensorView {
  void* data = nullptr;
  const int64_t* strides = nullptr;  // in elements; null: row-major
};

enum class Status : int32_t {
  done = 0,
  failed = 1,  // the program failed, as a division by zero does; the message says where
  no_memory = 2,
  missing_kernel = 3,   // an outside kernel that was not given
  wrong_argument = 4,   // of who called a compiled library
  wrong_processor = 5,  // it lacks what the code of a compiled library uses
};

struct Call;
struct BatchRun;

class Executor {
 public:
  // The code outlives the executor.
  Status start(const Code& code, int64_t threads);
  void stop();

  // Once, with the constants at their places among the inputs, before the first run: nothing runs meanwhile.
  Status prepare(const TensorView* inputs, Message& message);

  // Inputs and outputs as in the tables; outputs overlap nothing else. `result`, if given, is set to the name of the value
  // whose operation failed.
  Status run(const TensorView* inputs, const TensorView* outputs, Message& message, Message* result = nullptr);
  const Code& code() const { return code_; }
  int64_t threads() const { return pool_.threads(); }

 private:
  Call* take_call();
  void give_back(Call* call);
  Call* new_call() const;
  Status place_tensors(Call& call, const TensorView* inputs, const TensorView* outputs) const;
  void deliver(Call& call, const TensorView* outputs) const;
  // The call is given back. Without outputs only the constants are there.
  Status run_call(Call* call, int64_t sequence, const TensorView* inputs, const TensorView* outputs, Message& message,
                  Message* result);
  Status run_sequence(Call& call, int64_t sequence, int64_t depth);
  Status run_iteration(Call& call, const tables::Iteration& task, int64_t depth);
  Status run_batch(Call& call, const tables::Batch& batch, int64_t depth);
  Status report(Call& call, const tables::Batch& batch, int64_t depth, int64_t order);
  static void share(void* batch, int64_t thread);

  friend struct BatchRun;
  Code code_;
  Pool pool_;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  Call* free_calls_ = nullptr;  // kept for the next run
  char* prepared_ = nullptr;    // of all runs
};

}  // namespace tap::executor
