#include "runtime/executor_pool.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/executor_stack.h"

namespace tap::executor {
namespace {

// Pauses take some microseconds, about as long as threads wait for each other in short batches; then others may have the processor.
constexpr int pauses = 200, yields = 2000;
constexpr int64_t one_second = 1000000000;

// What `state_` holds.
constexpr int64_t is_open = int64_t{1} << 16, one_run = is_open << 1;
int64_t inside(int64_t state) { return state & (is_open - 1); }
int64_t number_of(int64_t state) { return state / one_run; }

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

int64_t read(const int64_t& value) { return __atomic_load_n(&value, __ATOMIC_SEQ_CST); }
void write(int64_t& value, int64_t to) { __atomic_store_n(&value, to, __ATOMIC_SEQ_CST); }

// False: it did not become true in time.
template <class Condition>
bool spin_until(const Condition& condition) {
  for (int s = 0; s < pauses + yields; ++s) {
    if (condition()) return true;
    if (s < pauses) Pool::pause();
    else sched_yield();
  }
  return false;
}

}  // namespace

// A thread that cannot be pinned runs anywhere.
void Pool::pin(int32_t processor) {
  if (processor < 0) return;
  processors::Set one;
  one.add(processor);
  processors::allow_only(one);
}

bool Pool::start(int64_t threads, const int32_t* pinned_to) {
  if (threads <= 1) return true;
  caller_is_pinned_ = pinned_to && processors::read_allowed(allowed_);
  workers_ = static_cast<Worker*>(calloc(static_cast<size_t>(threads - 1), sizeof(Worker)));
  if (!workers_) return false;
  for (; started_ < threads - 1; ++started_) {
    Worker& worker = workers_[started_];
    worker.pool = this;
    worker.number = started_ + 1;
    worker.processor = caller_is_pinned_ ? pinned_to[worker.number] : -1;
    if (pthread_create(&worker.thread, nullptr, begin, &worker) != 0) break;
  }
  if (caller_is_pinned_) pin(pinned_to[0]);
  return true;
}

void Pool::stop() {
  write(stopping_, 1);
  write(state_, (number_of(read(state_)) + 1) * one_run);
  wake();
  for (int64_t w = 0; w < started_; ++w) pthread_join(workers_[w].thread, nullptr);
  if (caller_is_pinned_) processors::allow_only(allowed_);
  caller_is_pinned_ = false;
  free(workers_);
  workers_ = nullptr;
  started_ = 0;
}

void* Pool::begin(void* worker) {
  AlternateStack for_faults;
  auto* self = static_cast<Worker*>(worker);
  pin(self->processor);
  self->pool->serve(self->number);
  return nullptr;
}

void Pool::serve(int64_t number) {
  for (int64_t seen = 0;;) {
    seen = wait_for_run(seen);
    if (read(stopping_) != 0) return;
    if (!enter(seen)) continue;
    work_(data_, number);
    leave();
  }
}

// Returns the number of a run after `seen`.
int64_t Pool::wait_for_run(int64_t seen) {
  auto is_there = [&] { return number_of(read(state_)) != seen; };
  if (!spin_until(is_there)) {
    const Lock lock(mutex_);
    write(sleeping_, sleeping_ + 1);
    while (!is_there()) pthread_cond_wait(&wake_, &mutex_);
    write(sleeping_, sleeping_ - 1);
  }
  return number_of(read(state_));
}

// False: the run is over.
bool Pool::enter(int64_t run) {
  int64_t state = read(state_);
  while (number_of(state) == run && (state & is_open) != 0)
    if (__atomic_compare_exchange_n(&state_, &state, state + 1, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return true;
  return false;
}

void Pool::leave() {
  const int64_t state = __atomic_sub_fetch(&state_, 1, __ATOMIC_SEQ_CST);
  if (inside(state) > 0 || (state & is_open) != 0 || read(caller_sleeps_) == 0) return;
  const Lock lock(mutex_);
  pthread_cond_signal(&done_);
}

void Pool::wait_for_workers() {
  auto is_empty = [&] { return inside(read(state_)) == 0; };
  if (spin_until(is_empty)) return;
  const Lock lock(mutex_);
  write(caller_sleeps_, 1);
  while (!is_empty()) pthread_cond_wait(&done_, &mutex_);
  write(caller_sleeps_, 0);
}

void Pool::wake() {
  if (read(sleeping_) == 0) return;
  const Lock lock(mutex_);
  pthread_cond_broadcast(&wake_);
}

bool Pool::open(Work work, void* data) {
  if (started_ == 0 || pthread_mutex_trylock(&busy_) != 0) return false;
  work_ = work;
  data_ = data;
  write(state_, (number_of(read(state_)) + 1) * one_run + is_open);
  wake();
  return true;
}

void Pool::close() {
  __atomic_and_fetch(&state_, ~is_open, __ATOMIC_SEQ_CST);
  wait_for_workers();
  pthread_mutex_unlock(&busy_);
}

void Pool::run(Work work, void* data) {
  const bool opened = open(work, data);
  work(data, 0);
  if (opened) close();
}

void Pool::await(Condition is_so, void* data) {
  auto is_there = [&] { return is_so(data); };
  if (spin_until(is_there)) return;
  const Lock lock(mutex_);
  write(waiting_, waiting_ + 1);
  for (int64_t most = 1000000; !is_there(); most += most < one_second ? most : 0) {  // nanoseconds
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    const int64_t at = until.tv_nsec + most;
    until.tv_sec += at / one_second;
    until.tv_nsec = at % one_second;
    pthread_cond_timedwait(&told_, &mutex_, &until);
  }
  write(waiting_, waiting_ - 1);
}

void Pool::wake_waiting() {
  const Lock lock(mutex_);
  pthread_cond_broadcast(&told_);
}

}  // namespace tap::executor
