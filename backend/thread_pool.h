// A few threads that share out numbered tasks. Idle threads spin briefly, then wait: the next batch usually follows at
// once, but a pool that spins for ever takes the machine from everyone else.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace tap::backend {

class ThreadPool {
 public:
  explicit ThreadPool(std::size_t threads);  // the caller is one of them
  ~ThreadPool();

  std::size_t threads() const;
  // Runs task(0) … task(count - 1), in any order and at the same time; returns when all are done. Tasks do not throw.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
