#include "compiler/driver/metrics/recording.h"

#include <algorithm>
#include <new>
#include <tuple>

namespace tap::driver {

Recording::Recording(std::size_t threads, std::size_t most_tasks)
    : recorder_{this, add_task, add_message, add_batch}, most_tasks_(most_tasks), tasks_(threads) {}

// Without memory the recording ends; the run goes on. A batch that began is counted when it ends, and no thread runs a task
// then, so that `batches_` may be read here.
void Recording::add_task(void* self, std::int64_t thread, const executor::TaskTime& time) try {
  auto& own = *static_cast<Recording*>(self);
  if (!own.full_) own.tasks_[static_cast<std::size_t>(thread)].push_back({time, own.batches_.size(), thread});
} catch (const std::bad_alloc&) { static_cast<Recording*>(self)->full_ = true; }

void Recording::add_message(void* self, const executor::MessageTime& time) try {
  auto& own = *static_cast<Recording*>(self);
  if (!own.full_) own.messages_.push_back({time, own.batches_.size()});
} catch (const std::bad_alloc&) { static_cast<Recording*>(self)->full_ = true; }

std::int32_t Recording::add_batch(void* self, const executor::BatchTime& time) try {
  auto& own = *static_cast<Recording*>(self);
  if (own.full_) return 1;
  own.batches_.push_back({static_cast<std::size_t>(time.sequence),
                          static_cast<std::size_t>(time.batch),
                          {time.trips, time.trips + time.depth},
                          time.time,
                          time.waiting});
  std::size_t recorded = own.messages_.size();
  for (const std::vector<Task>& tasks : own.tasks_) recorded += tasks.size();
  if (recorded >= own.most_tasks_) own.full_ = true;
  return own.full_ ? 1 : 0;
} catch (const std::bad_alloc&) {
  static_cast<Recording*>(self)->full_ = true;
  return 1;
}

void Recording::forget() {
  for (std::vector<Task>& own : tasks_) own.clear();
  messages_.clear();
  batches_.clear();
  full_ = false;
}

std::vector<Recording::Task> Recording::tasks() const {
  std::vector<Task> all;
  for (const std::vector<Task>& own : tasks_)
    for (const Task& task : own)
      if (task.batch < batches_.size()) all.push_back(task);  // not of a batch that failed
  std::sort(all.begin(), all.end(), [](const Task& a, const Task& b) {
    return std::tie(a.batch, a.task, a.call, a.first) < std::tie(b.batch, b.task, b.call, b.first);
  });
  return all;
}

}  // namespace tap::driver
