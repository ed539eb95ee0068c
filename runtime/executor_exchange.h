// The copies of a batch whose cells lie with one process and are needed by another (distribution.h).
#pragma once

#include "runtime/executor_tasks.h"

namespace tap::executor {

// Whether this process runs tasks that write the buffer.
bool has_buffer(const tables::Reader& tables, const Call& call, int64_t buffer);
// Whether this process has the source of the copy and needs its result.
bool copies_here(const tables::Reader& tables, const Call& call, const tables::Copy& task);

// Sends and receives in two parts, so that the other tasks of the batch run in between.
class Exchange {
 public:
  Exchange(const Code& code, Call& call, const tables::Batch& batch) : code_(code), call_(call), batch_(batch) {}
  Exchange(const Exchange&) = delete;
  ~Exchange();
  Status start();
  Status finish(Interval& waiting);  // receives when it waited, if messages are recorded

 private:
  struct Packed {
    Packed* next;
    const tables::Copy* task;
    bool received;
  };
  void* cells(const tables::Copy& task, bool received);
  Status start(const tables::Copy& task, int64_t position);
  void record_received(const Interval& time) const;
  Status send(const tables::Copy& task, int64_t position, int64_t from, int64_t to);

  const Code& code_;
  Call& call_;
  const tables::Batch& batch_;
  Packed* packed_ =
      nullptr;  // each followed by its cells; those that lie in their buffers one after another are not here
  bool started_ = false;
  int64_t began_ = 0;  // when messages were expected first, if they are recorded
};

}  // namespace tap::executor
