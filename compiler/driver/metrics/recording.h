// The times of the tasks of a run, as the executor gives them. Whole batches only: after a limit nothing more is recorded,
// so that a run of any length needs bounded memory, and what is recorded does not depend on clocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/recorder.h"

namespace tap::driver {

class Recording {
 public:
  struct Task : executor::TaskTime {
    std::size_t batch = 0;  // of `batches`
    std::int64_t thread = 0;
  };
  struct Message : executor::MessageTime {
    std::size_t batch = 0;
  };
  struct Batch {
    std::size_t sequence = 0, batch = 0;  // of the schedule
    std::vector<std::int64_t> trips;      // of the iterates around it, outermost first
    executor::Interval time, waiting;
  };

  explicit Recording(std::size_t threads, std::size_t most_tasks = std::size_t{1} << 20);
  Recording(const Recording&) = delete;

  const executor::Recorder& recorder() const { return recorder_; }

  void forget();  // between runs

  std::size_t threads() const { return tasks_.size(); }
  // After the run.
  std::vector<Task> tasks() const;  // by batch, task, call and tile
  const std::vector<Message>& messages() const { return messages_; }
  const std::vector<Batch>& batches() const { return batches_; }
  bool is_complete() const { return !full_; }

 private:
  static void add_task(void* self, std::int64_t thread, const executor::TaskTime& time);
  static void add_message(void* self, const executor::MessageTime& time);
  static std::int32_t add_batch(void* self, const executor::BatchTime& time);

  executor::Recorder recorder_;
  std::size_t most_tasks_;
  std::vector<std::vector<Task>> tasks_;  // by thread
  std::vector<Message> messages_;
  std::vector<Batch> batches_;
  std::atomic<bool> full_ = false;
};

}  // namespace tap::driver
