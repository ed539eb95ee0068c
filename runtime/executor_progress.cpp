#include "runtime/executor_progress.h"

#include <string.h>

#include "runtime/executor_message.h"

namespace tap::executor {

using namespace tables;

namespace {

// Appends to a text of limited size, which is always terminated.
class ShortText {
 public:
  ShortText(char* text, int64_t room) : at_(text), end_(text + room - 1) { *at_ = 0; }
  ShortText& add(const char* text, int64_t bytes) {
    const int64_t fits = bytes < end_ - at_ ? bytes : end_ - at_;
    memcpy(at_, text, static_cast<size_t>(fits));
    at_ += fits;
    *at_ = 0;
    return *this;
  }
  ShortText& add(const char* text) { return add(text, static_cast<int64_t>(strlen(text))); }
  ShortText& add(int64_t number) {
    const Decimal decimal(number);
    return add(decimal.text(), static_cast<int64_t>(decimal.size()));
  }

 private:
  char *at_, *end_;
};

bool begin_writing(Progress& progress) { return __atomic_exchange_n(&progress.writing, 1, __ATOMIC_ACQUIRE) == 0; }
void end_writing(Progress& progress) { __atomic_store_n(&progress.writing, 0, __ATOMIC_RELEASE); }

void name_operation(const Reader& tables, Progress& progress, const Task& task) {
  const Text& result = tables.all<Operation>(tables.head().operations)[task.order].result;
  ShortText(progress.operation, sizeof progress.operation).add(tables.text(result), result.bytes);
}

}  // namespace

void note_batch(const Reader& tables, const Call& call, const Batch& batch, int64_t portions) {
  Progress* progress = call.progress;
  if (!progress) return;
  for (int64_t t = 0; t < batch.tasks.count; ++t) {
    const Task& task = *tables.at<Task>(tables.words(batch.tasks.at)[t]);
    if (task.kind != kernel_call && task.kind != outside_call) continue;
    if (begin_writing(*progress)) {
      name_operation(tables, *progress, task);
      progress->shard[0] = 0;
      end_writing(*progress);
    }
    break;
  }
  progress->activity = Activity::computing;
  __atomic_store_n(&progress->portions, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&progress->of_portions, portions, __ATOMIC_RELAXED);
  __atomic_fetch_add(&progress->batches, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&progress->steps, 1, __ATOMIC_RELAXED);
}

void note_portion(const Call& call) {
  if (!call.progress) return;
  __atomic_fetch_add(&call.progress->steps, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&call.progress->portions, 1, __ATOMIC_RELAXED);
}

void note_exchange(const Call& call) {
  if (call.progress) call.progress->activity = Activity::exchanging;
}

// If another thread is writing at this moment, its shard is as good as ours.
void note_shard(const Reader& tables, const Call& call, const Task& task, const int64_t* box, int64_t dims,
                int64_t buffer) {
  Progress* progress = call.progress;
  if (!progress || !begin_writing(*progress)) return;
  name_operation(tables, *progress, task);
  const Operation& operation = tables.all<Operation>(tables.head().operations)[task.order];
  const auto* names = tables.all<Dim>(operation.dims);
  ShortText text(progress->shard, sizeof progress->shard);
  const char* between = " at ";
  for (int64_t d = 0; d < dims && d < operation.dims.count; ++d) {
    if (names[d].hidden) continue;
    text.add(between).add(tables.text(names[d].name), names[d].name.bytes).add(" in ");
    text.add(box[2 * d]).add("..").add(box[2 * d + 1]);
    between = ", ";
  }
  const int64_t device = buffer < 0 ? -1 : tables.all<Buffer>(tables.head().buffers)[buffer].device;
  if (device >= 0) text.add(" on device ").add(device);
  end_writing(*progress);
}

}  // namespace tap::executor
