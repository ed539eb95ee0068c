#include "runtime/executor_exchange.h"

#include <stdlib.h>

#include <new>

#include "runtime/executor_copy.h"

namespace tap::executor {

using namespace tables;

namespace {

constexpr int64_t every_process = -1;

// The process of a buffer. Results are gathered in every process, since later operations may read them.
int64_t owner_of(const Reader& tables, const Distribution& among, int64_t buffer) {
  const Buffer& own = tables.all<Buffer>(tables.head().buffers)[buffer];
  return own.device < 0 ? every_process : among.rank_of(own.device);
}

int64_t cells_of(const Reader& tables, const Copy& task) {
  int64_t cells = 1;
  for (int64_t axis = 0; axis < task.extents.count; ++axis) cells *= tables.words(task.extents.at)[axis];
  return cells;
}

constexpr int64_t header_bytes = 64;  // keeps the cells aligned

}  // namespace

bool has_buffer(const Reader& tables, const Call& call, int64_t buffer) {
  if (!call.among) return true;
  const Buffer& own = tables.all<Buffer>(tables.head().buffers)[buffer];
  return own.device < 0 || call.among->rank_of(own.device) == call.among->rank;
}

bool copies_here(const Reader& tables, const Call& call, const Copy& task) {
  if (!call.among) return true;
  const int64_t from = owner_of(tables, *call.among, task.from.buffer);
  const int64_t to = owner_of(tables, *call.among, task.to.buffer);
  const int64_t self = call.among->rank;
  return (from == every_process || from == self) && (to == every_process || to == self);
}

Exchange::~Exchange() {
  while (packed_) {
    Packed* next = packed_->next;
    free(packed_);
    packed_ = next;
  }
}

void* Exchange::cells(const Copy& task, bool received) {
  Reader tables(code_.tables);
  static_assert(sizeof(Packed) <= header_bytes);
  void* memory = malloc(static_cast<size_t>(header_bytes + cells_of(tables, task) * task.element_bytes));
  if (!memory) return nullptr;
  packed_ = new (memory) Packed{packed_, &task, received};
  return static_cast<char*>(memory) + header_bytes;
}

namespace {

// Where the box begins in the buffer, if its cells lie there one after another: they need no copy. Else null.
void* contiguous(const Reader& tables, const Call& call, const Copy& task, bool received) {
  const Argument& end = received ? task.to : task.from;
  const int64_t* strides = tables.words(received ? task.to_strides : task.from_strides);
  if (!is_row_major(tables.words(task.extents.at), strides, task.extents.count, task.element_bytes)) return nullptr;
  return static_cast<char*>(call.addresses[end.buffer]) + end.offset;
}

// Between a box of a buffer and its cells one after another.
void copy_packed(const Reader& tables, const Call& call, const Copy& task, void* cells, bool unpack) {
  int64_t packed[max_index_dims];
  const int64_t* extents = tables.words(task.extents.at);
  for (int64_t axis = task.extents.count - 1, stride = task.element_bytes; axis >= 0; --axis) {
    packed[axis] = stride;
    stride *= extents[axis];
  }
  const Argument& end = unpack ? task.to : task.from;
  Strided box{static_cast<char*>(call.addresses[end.buffer]) + end.offset,
              tables.words(unpack ? task.to_strides : task.from_strides)};
  Strided list{static_cast<char*>(cells), packed};
  copy_tiles(unpack ? list : box, unpack ? box : list, extents, task.extents.count, task.element_bytes, 1, 0, 1);
}

}  // namespace

Status Exchange::send(const Copy& task, int64_t position, int64_t from, int64_t to) {
  Reader tables(code_.tables);
  const Messages& messages = call_.among->messages;
  const int64_t bytes = cells_of(tables, task) * task.element_bytes;
  void* sent = contiguous(tables, call_, task, false);
  for (int64_t rank = 0; rank < call_.among->ranks; ++rank) {
    if (rank == from || (to != every_process && to != rank)) continue;
    MessageTime time{position, rank, false, {}};
    if (call_.recorder) time.time.began = nanoseconds();
    if (!sent) {
      sent = cells(task, false);
      if (!sent) return Status::no_memory;
      copy_packed(tables, call_, task, sent, false);
    }
    if (messages.send(messages.self, rank, sent, bytes) != 0) return Status::lost_process;
    if (!call_.recorder) continue;
    time.time.ended = nanoseconds();
    call_.recorder->message(call_.recorder->self, time);
  }
  return Status::done;
}

Status Exchange::start(const Copy& task, int64_t position) {
  Reader tables(code_.tables);
  const Distribution& among = *call_.among;
  const int64_t from = owner_of(tables, among, task.from.buffer), to = owner_of(tables, among, task.to.buffer);
  const int64_t bytes = cells_of(tables, task) * task.element_bytes;
  if (from == every_process || from == to || bytes == 0) return Status::done;
  started_ = true;
  if (from == among.rank) return send(task, position, from, to);
  if (to != every_process && to != among.rank) return Status::done;
  void* received = contiguous(tables, call_, task, true);
  if (!received) received = cells(task, true);
  if (!received) return Status::no_memory;
  const bool failed = among.messages.receive(among.messages.self, from, received, bytes) != 0;
  return failed ? Status::lost_process : Status::done;
}

Status Exchange::start() {
  Reader tables(code_.tables);
  const int64_t* tasks = tables.words(batch_.tasks.at);
  if (call_.recorder) began_ = nanoseconds();
  for (int64_t t = 0; t < batch_.tasks.count; ++t) {
    const Task& task = *tables.at<Task>(tasks[t]);
    if (task.kind != copy_box) continue;
    const Status status = start(static_cast<const Copy&>(task), t);
    if (status != Status::done) return status;
  }
  return Status::done;
}

// All messages are there when the last one is: each is recorded until then.
void Exchange::record_received(const Interval& time) const {
  Reader tables(code_.tables);
  for (int64_t t = 0; t < batch_.tasks.count; ++t) {
    const auto& task = *tables.at<Copy>(tables.words(batch_.tasks.at)[t]);
    if (task.kind != copy_box) continue;
    const int64_t from = owner_of(tables, *call_.among, task.from.buffer);
    const int64_t to = owner_of(tables, *call_.among, task.to.buffer);
    const bool is_here = to == every_process || to == call_.among->rank;
    if (from == every_process || from == call_.among->rank || !is_here || cells_of(tables, task) == 0) continue;
    call_.recorder->message(call_.recorder->self, {t, from, true, time});
  }
}

Status Exchange::finish(Interval& waiting) {
  if (!started_) return Status::done;
  Reader tables(code_.tables);
  if (call_.recorder) waiting.began = nanoseconds();
  if (call_.among->messages.wait(call_.among->messages.self) != 0) return Status::lost_process;
  if (call_.recorder) {
    waiting.ended = nanoseconds();
    record_received({began_, waiting.ended});
  }
  for (Packed* one = packed_; one; one = one->next)
    if (one->received) copy_packed(tables, call_, *one->task, reinterpret_cast<char*>(one) + header_bytes, true);
  return Status::done;
}

}  // namespace tap::executor
