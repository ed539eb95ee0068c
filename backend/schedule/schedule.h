// From block graphs to a schedule (ir/schedule.h), with all memory planned. encode() turns it into the words that the
// executor runs (runtime/schedule_tables.h).
#pragma once

#include "backend/loops/kernel_source.h"
#include "ir/block_graph.h"
#include "ir/schedule.h"

namespace tap::backend {

using ir::Batch, ir::Buffer, ir::BufferId, ir::BufferPlace, ir::CopyBox, ir::Counter, ir::Fill, ir::Iteration,
    ir::KernelCall, ir::OutsideCall, ir::Preparation, ir::ProgramTensor, ir::Schedule, ir::ScheduledOperation,
    ir::ScheduledTask, ir::Sequence;

// The kernels of a program, by number, and which one computes an operator.
struct KernelTable {
  std::vector<Kernel> kernels;
  std::vector<std::optional<std::size_t>> of;      // by OperatorId
  std::vector<std::vector<Preparation>> prepared;  // by OperatorId
  std::vector<KernelSource> sources;               // by kernel
  std::vector<ir::ScheduledKernel> what;           // by kernel: what it computes
};

struct ScheduleOptions {
  std::int64_t parts =
      0;  // into how many parts a kernel's box is split, as far as it can be; 0: as many as are worth it
  const std::vector<std::string>* output_names = nullptr;  // else the values' names
};
// Pre: the block program is one of all devices.
Schedule schedule(const ir::BlockProgram& blocks, const KernelTable& kernels, const ScheduleOptions& options = {});

// Applications of kernels, those in bodies of iterates once.
std::int64_t shard_count(const Schedule& schedule);

// The batches, counted in order through iterates, in which a buffer must keep what it holds; last < first: none.
struct Lifetime {
  std::int64_t first = INT64_MAX, last = -1;
};
// Places the buffers in the arena: none overlaps another that lives at the same time.
void plan_memory(Schedule& schedule, const std::vector<Lifetime>& lifetimes);

// The memory that a buffer of that many bytes takes: the next one begins aligned.
std::int64_t aligned_bytes(std::int64_t bytes);

// Bytes of memory of its own: the most that a kernel wants.
std::int64_t most_scratch(const std::vector<Kernel>& kernels);

// The words of runtime/schedule_tables.h, for these kernels. Code with the schedule may use these features of a processor
// (library.h).
std::vector<std::int64_t> encode(const Schedule& schedule, const std::vector<Kernel>& kernels,
                                 const std::vector<std::string>& features = {});

}  // namespace tap::backend
