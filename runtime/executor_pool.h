// A small thread pool for one job at a time. Idle threads spin briefly and then wait: the next batch usually follows
// immediately, but endless spinning would take the processor from others. Uses only the C library, since compiled
// libraries contain it.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "runtime/processors.h"

namespace tap::executor {

class Pool {
 public:
  // The caller of run() is one of the threads. There may be fewer if the system refuses some.
  // `pinned_to`: the processor of each thread, that of the caller first, which is pinned until `stop`. Null: the system chooses.
  bool start(int64_t threads, const int32_t* pinned_to = nullptr);
  void stop();
  int64_t threads() const { return started_ + 1; }

  // Calls work(data, thread) on every thread that is ready in time, and on the caller's thread, number 0; returns when
  // all have returned. The work distributes itself among the threads that call it. If several threads call run() at a
  // time, one of them gets the pool and the others work alone.
  using Work = void (*)(void* data, int64_t thread);
  void run(Work work, void* data);
  // The same in parts, where the caller's thread has its own way to the work: `open` calls the workers, `close` returns when all have
  // returned. False: there are none, or another caller has them; then `close` must not follow.
  bool open(Work work, void* data);
  void close();

  // For threads in the work of a run: returns once `is_so(data)`. Who changes that calls `tell` afterwards. It does so without a
  // fence, which would take as long as a short batch: who falls asleep at that moment looks again by itself.
  using Condition = bool (*)(void* data);
  void await(Condition is_so, void* data);
  void tell() {
    if (__atomic_load_n(&waiting_, __ATOMIC_RELAXED) != 0) wake_waiting();
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

 private:
  struct Worker {
    Pool* pool;
    int64_t number;
    int32_t processor;  // -1: any
    pthread_t thread;
  };
  static void* begin(void* worker);
  static void pin(int32_t processor);  // the thread that calls
  void serve(int64_t number);
  int64_t wait_for_run(int64_t seen);
  bool enter(int64_t run);
  void leave();
  void wait_for_workers();
  void wake();
  void wake_waiting();

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;  // of those that sleep
  pthread_mutex_t busy_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER, done_ = PTHREAD_COND_INITIALIZER, told_ = PTHREAD_COND_INITIALIZER;
  Worker* workers_ = nullptr;
  int64_t started_ = 0;
  bool caller_is_pinned_ = false;
  processors::Set allowed_ = {};  // to the caller, before it was pinned
  int64_t sleeping_ = 0, caller_sleeps_ = 0, stopping_ = 0, waiting_ = 0;
  // The number of the run, whether workers may still enter it, and how many are inside: one word, so that a worker enters, or is
  // too late, in one step. Work and data change while no worker is inside.
  char apart_[64] = {};  // on another cache line: idle workers read it all the time
  int64_t state_ = 0;
  Work work_ = nullptr;
  void* data_ = nullptr;
  char apart_too_[64] = {};
};

}  // namespace tap::executor
