#include "backend/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace tap::backend {
namespace {

constexpr int spins = 2000;

// One call of run(). Workers hold it by a shared pointer, so that one who comes late finds it finished, not gone.
struct Batch {
  const std::function<void(std::size_t)>* task;
  std::size_t count;
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};

  void work() {
    for (std::size_t i; (i = next.fetch_add(1)) < count;) {
      (*task)(i);
      done.fetch_add(1, std::memory_order_release);
    }
  }
  bool finished() const { return done.load(std::memory_order_acquire) == count; }
};

}  // namespace

struct ThreadPool::Impl {
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<std::size_t> generation{0};  // counts batches; written under the mutex
  std::shared_ptr<Batch> batch;
  bool stopping = false;
  std::vector<std::thread> workers;

  void serve() {
    std::size_t seen = 0;
    while (true) {
      for (int s = 0; s < spins && generation.load(std::memory_order_acquire) == seen; ++s) std::this_thread::yield();
      std::shared_ptr<Batch> mine;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stopping || generation.load() != seen; });
        if (stopping) return;
        seen = generation.load();
        mine = batch;
      }
      mine->work();
    }
  }
};

ThreadPool::ThreadPool(std::size_t threads) : impl_(std::make_unique<Impl>()) {
  for (std::size_t t = 1; t < threads; ++t) impl_->workers.emplace_back([this] { impl_->serve(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    impl_->generation.fetch_add(1);
  }
  impl_->wake.notify_all();
  for (auto& worker : impl_->workers) worker.join();
}

std::size_t ThreadPool::threads() const { return impl_->workers.size() + 1; }

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  if (impl_->workers.empty() || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) task(i);
    return;
  }
  auto batch = std::make_shared<Batch>();
  batch->task = &task;
  batch->count = count;
  {
    std::lock_guard lock(impl_->mutex);
    impl_->batch = batch;
    impl_->generation.fetch_add(1, std::memory_order_release);
  }
  impl_->wake.notify_all();
  batch->work();
  while (!batch->finished()) std::this_thread::yield();
}

}  // namespace tap::backend
