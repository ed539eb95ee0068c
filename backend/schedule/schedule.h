// From block graphs to a schedule (ir/schedule.h), with all memory planned. encode() turns it into the words that the
// executor runs (runtime/schedule_tables.h).
#pragma once

#include <functional>

#include "backend/loops/kernel_source.h"
#include "ir/block_graph.h"
#include "ir/schedule.h"

namespace tap::backend {

using ir::Batch, ir::Buffer, ir::BufferDevice, ir::BufferId, ir::MemorySpace, ir::CopyBox, ir::Counter, ir::Fill,
    ir::Iteration, ir::KernelCall, ir::OutsideCall, ir::Preparation, ir::ProgramTensor, ir::Schedule,
    ir::ScheduledOperation, ir::ScheduledTask, ir::Sequence;

// The kernels of a program, by number, and the kernel of each operator.
struct KernelTable {
  std::vector<Kernel> kernels;
  std::vector<std::optional<std::size_t>> of;      // by OperatorId
  std::vector<std::vector<Preparation>> prepared;  // by OperatorId
  std::vector<KernelSource> sources;               // by kernel
  std::vector<ir::ScheduledKernel> what;           // by kernel: what it computes
};

// The batches, counted in order through iterates, during which a buffer must keep its contents; last < first: none.
struct Lifetime {
  std::int64_t first = INT64_MAX, last = -1;
};
// What the schedule does not say of its buffers, and metrics and several processes need to know (process_schedule.h).
struct BufferFacts {  // by buffer
  std::vector<BufferDevice> devices;
  std::vector<Lifetime> lifetimes;
};

// What list scheduling goes by (list_scheduling.h). The same in all processes of a job, or their schedules would differ.
struct TaskTimes {
  std::vector<std::vector<std::vector<double>>> seconds;  // of one thread, by sequence, batch, task
  double batch = 0;                                       // to begin and end a batch of several threads
  double latency = 0, bytes_per_second = 1;               // of messages between devices
};
struct ScheduleOptions {
  std::int64_t parts = 0;  // parts of a kernel's box, if it can be split that far; 0: as many as pay
  const std::vector<std::string>* output_names = nullptr;  // null: the values' names
  BufferFacts* facts = nullptr;                            // receives them
  bool shared = false;  // by several processes: what one device computes is not in the caller's memory
  // The times of a schedule in program order. Without them it stays in program order.
  std::function<TaskTimes(const Schedule&)> times = {};
};
// Pre: the block program covers all devices.
Schedule schedule(const ir::BlockProgram& blocks, const KernelTable& kernels, const ScheduleOptions& options = {});

// The number of kernel applications; those in bodies of iterates count once.
std::int64_t shard_count(const Schedule& schedule);

// The devices of a buffer's members.
std::vector<std::int64_t> devices_of(const BufferDevice& device, const ir::Row& row);
// Places the buffers in the arena: buffers with overlapping lifetimes do not overlap.
void plan_memory(Schedule& schedule, const std::vector<Lifetime>& lifetimes);

// The size of a buffer in the arena: rounded up to the alignment.
std::int64_t aligned_bytes(std::int64_t bytes);

// The largest scratch memory of any kernel.
std::int64_t most_scratch(const std::vector<Kernel>& kernels);

// What one task of the encoded schedule is made of: one member of a task of the schedule for each of its calls. Buffers are
// those of ir::by_memory().
struct EncodedCall {
  std::size_t task = 0;    // of the schedule's batch
  std::size_t member = 0;  // of its row
  ScheduledTask alone;
};
struct EncodedSchedule {
  std::vector<std::vector<std::vector<std::vector<EncodedCall>>>> calls;  // by sequence, batch, encoded task
  std::vector<Buffer> buffers;
  std::vector<std::int64_t> devices;  // by buffer; empty if they are not known
};

// The words of runtime/schedule_tables.h for these kernels. `features`: of the processor, which the code may use
// (library.h).
std::vector<std::int64_t> encode(const Schedule& schedule, const std::vector<Kernel>& kernels,
                                 const std::vector<std::string>& features = {},
                                 const std::vector<BufferDevice>& devices = {});
// The calls behind its numbers.
EncodedSchedule encoded_calls(const Schedule& schedule, const std::vector<BufferDevice>& devices);

}  // namespace tap::backend
