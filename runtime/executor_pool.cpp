#include "runtime/executor_pool.h"

#include <sched.h>
#include <stdlib.h>

#include "runtime/executor_stack.h"

namespace tap::executor {
namespace {

constexpr int spins = 2000;

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

int64_t read(const int64_t& value) { return __atomic_load_n(&value, __ATOMIC_ACQUIRE); }
void write(int64_t& value, int64_t to) { __atomic_store_n(&value, to, __ATOMIC_RELEASE); }

}  // namespace

// A thread that cannot be pinned runs anywhere.
void Pool::pin(int64_t number) const {
  if (first_ < 0) return;
  int64_t position = first_ + number;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed_) || position-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

bool Pool::start(int64_t threads, int64_t first) {
  if (threads <= 1) return true;
  CPU_ZERO(&allowed_);
  first_ = sched_getaffinity(0, sizeof allowed_, &allowed_) == 0 ? first : -1;
  workers_ = static_cast<Worker*>(calloc(static_cast<size_t>(threads - 1), sizeof(Worker)));
  if (!workers_) return false;
  for (; started_ < threads - 1; ++started_) {
    Worker& worker = workers_[started_];
    worker.pool = this;
    worker.number = started_ + 1;
    if (pthread_create(&worker.thread, nullptr, begin, &worker) != 0) break;
  }
  pin(0);
  return true;
}

void Pool::stop() {
  {
    Lock lock(mutex_);
    stopping_ = true;
    write(generation_, generation_ + 1);
    pthread_cond_broadcast(&wake_);
  }
  for (int64_t w = 0; w < started_; ++w) pthread_join(workers_[w].thread, nullptr);
  if (first_ >= 0) sched_setaffinity(0, sizeof allowed_, &allowed_);
  first_ = -1;
  free(workers_);
  workers_ = nullptr;
  started_ = 0;
}

void* Pool::begin(void* worker) {
  AlternateStack for_faults;
  auto* self = static_cast<Worker*>(worker);
  self->pool->pin(self->number);
  self->pool->serve(self->number);
  return nullptr;
}

// A late thread finds no work, since run() removes it before it returns.
void Pool::serve(int64_t number) {
  int64_t seen = 0;
  while (true) {
    for (int s = 0; s < spins && read(generation_) == seen; ++s) sched_yield();
    Work work = nullptr;
    void* data = nullptr;
    {
      Lock lock(mutex_);
      while (generation_ == seen) {
        ++waiting_;
        pthread_cond_wait(&wake_, &mutex_);
        --waiting_;
      }
      if (stopping_) return;
      seen = generation_;
      work = work_;
      data = data_;
      if (work) write(active_, active_ + 1);
    }
    if (!work) continue;
    work(data, number);
    Lock lock(mutex_);
    write(active_, active_ - 1);
    if (active_ == 0 && !work_) pthread_cond_signal(&done_);
  }
}

void Pool::run(Work work, void* data) {
  if (started_ == 0 || pthread_mutex_trylock(&busy_) != 0) return work(data, 0);
  {
    Lock lock(mutex_);
    work_ = work;
    data_ = data;
    write(generation_, generation_ + 1);
    if (waiting_ > 0) pthread_cond_broadcast(&wake_);
  }
  work(data, 0);
  {
    Lock lock(mutex_);
    work_ = nullptr;
  }
  for (int s = 0; s < spins && read(active_) > 0; ++s) sched_yield();
  {
    Lock lock(mutex_);
    while (active_ > 0) pthread_cond_wait(&done_, &mutex_);
  }
  pthread_mutex_unlock(&busy_);
}

}  // namespace tap::executor
