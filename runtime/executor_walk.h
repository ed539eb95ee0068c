// Threads that go through the batches of a run together, without a call of all threads and an answer of each for every batch: a
// thread that finds no tiles left in a batch goes on to the next one by itself, where it waits until the batch before is complete.
// Every thread follows iterates by itself.
//
//   two threads, batches of two tiles:      thread 0   A0 · B0 · C0         B0 waits for A1, C0 for B1
//                                           thread 1   A1 · B1 · C1
//
// Where tiles need only tiles near their own number (Batch::apart), a thread waits for its neighbours alone, and for these only at
// the ends of its range: one thread falls behind the other by less than a batch, and then none waits.
//
//   a stencil in ranges of 48 of 96 tiles    thread 0   B0…B46 · B47          B47 waits for thread 1 to have run A48…A95
//                                            thread 1   B48 · B49…B95         B48 waits for thread 0 to have run A0…A47
//
// Batches for one thread are the caller's, thread 0. The others are called at the first batch that is shared.
#pragma once

#include "runtime/executor_tasks.h"

namespace tap::executor {

// Bytes of a thread's own view of a run: what each needs in walks of this schedule.
int64_t walk_bytes(const tables::Head& head);

class Walk {
 public:
  Walk(const Code& code, const Call& call, Pool& pool) : code_(code), call_(call), pool_(pool) {}
  Walk(const Walk&) = delete;

  void run(int64_t sequence);

  // The batch that failed, the least order of its failed tasks, and the run as it was then. Order INT64_MAX: none failed.
  struct Failure {
    int64_t order = INT64_MAX, step = INT64_MAX;
    const tables::Batch* batch = nullptr;
    int64_t depth = 0;
    void** addresses = nullptr;
    int64_t* counters = nullptr;
  };
  const Failure& failure() const { return failure_; }

 private:
  friend class Walker;
  static void follow(void* walk, int64_t thread);

  const Code& code_;
  const Call& call_;
  Pool& pool_;
  int64_t sequence_ = 0;
  Failure failure_;
};

}  // namespace tap::executor
