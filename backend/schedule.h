// What a program does, in order, with all memory planned: the block graph of its main graph with the bodies of iterates
// written out. Prints for people; encode() makes of it the words that the executor runs (runtime/schedule_tables.h).
//
//   X → H = relu(X) → Y = H * 2      as a schedule:
//
//   schedule: 2 kernels, arena 4096 bytes
//     b0 X: f32[0..32, 0..32] input 0
//     b1 H: f32[0..32, 0..32] arena 0..4096, batches 0..1
//     b2 Y: f32[0..32, 0..32] output 0
//   batch 0
//     kernel 0 relu on [0..32, 0..32] (b0, b1), 8 tiles
//   batch 1
//     kernel 1 Y on [0..32, 0..32] (b1, b2), 8 tiles
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/loops.h"
#include "ir/block_graph.h"

namespace tap::backend {

using BufferId = Id<struct BufferTag>;

enum class BufferPlace : std::uint8_t { arena, input, output, prepared };

// Memory of a box of a value, row-major. Kernels, copies and outside kernels find cells by their coordinates in it.
struct Buffer {
  std::string name;  // for people
  ElementType element = ElementType::f32;
  ir::Box box;
  BufferPlace place = BufferPlace::arena;
  std::int64_t at = 0;  // in the arena or among what is prepared, in bytes; or the number of the input or output
  // The batches, counted in order through iterates, in which it must keep what it holds; last < first: none.
  std::int64_t first = 0, last = -1;
  std::int64_t bytes() const;  // throws Overflow
  bool operator==(const Buffer&) const = default;
};

struct Counter {  // a dim of a box that has the step that runs
  std::uint32_t dim = 0, level = 0;
  bool operator==(const Counter&) const = default;
};
struct KernelCall {
  std::size_t kernel = 0;
  std::int64_t tiles = 1;      // of the box
  std::size_t operations = 0;  // of `operations`: what section 0 of the kernel computes
  ir::Box box;
  std::vector<Counter> counters;
  std::vector<BufferId> buffers;  // operands, then results
  bool operator==(const KernelCall&) const = default;
};
struct CopyBox {
  BufferId from, to;
  ir::Box box;
  bool operator==(const CopyBox&) const = default;
};
struct Fill {
  BufferId buffer;
  ir::Scalar value;
  bool operator==(const Fill&) const = default;
};
struct OutsideCall {
  std::size_t outside = 0;  // of `outside`
  ir::Box box;
  Shape extents;                  // of the whole index space
  std::vector<BufferId> regions;  // one per access, reads first
  bool operator==(const OutsideCall&) const = default;
};
// After each step the memories of `now` and `next` are exchanged.
struct Iteration {
  ir::Range steps;
  std::size_t body = 0;  // of `sequences`
  std::vector<std::pair<BufferId, BufferId>> states;
  bool operator==(const Iteration&) const = default;
};

struct ScheduledTask {
  std::variant<KernelCall, CopyBox, Fill, OutsideCall, Iteration> what;
  std::int64_t tiles = 1;  // parts that threads may take
  std::size_t order = 0;   // of its operation: of several that fail, the least is told
  bool operator==(const ScheduledTask&) const = default;
};
using Batch = std::vector<ScheduledTask>;  // they share nothing; an iteration is alone
using Sequence = std::vector<Batch>;

// What messages say of an operation.
struct OperationText {
  struct Dim {
    std::string name;
    bool hidden = false;  // the number of a block
    bool operator==(const Dim&) const = default;
  };
  std::string name, result;
  std::vector<Dim> dims;
  std::vector<std::pair<std::string, Shape>> operands;
  bool operator==(const OperationText&) const = default;
};

struct ProgramTensor {
  std::string name;
  ir::TensorType type;
  bool constant = false;
  bool operator==(const ProgramTensor&) const = default;
};

struct Schedule {
  std::vector<ProgramTensor> inputs, outputs;
  std::vector<Buffer> buffers;
  std::vector<Sequence> sequences;         // the first is the program, the others are bodies of iterates and …
  std::optional<std::size_t> preparation;  // … what is done once, with the constants
  std::vector<OperationText> operations;
  std::vector<std::string> outside;  // symbols of outside kernels
  std::size_t kernels = 0;
  std::int64_t arena_bytes = 0;
  std::int64_t prepared_bytes = 0;
  std::int64_t scratch_bytes = 0;  // the most that a kernel wants
  bool operator==(const Schedule&) const = default;
};

// An operand that a kernel wants as another kernel, a map of it alone, makes it (lower_prepared.cpp).
struct Preparation {
  std::uint32_t operand = 0;
  std::size_t kernel = 0;
  ir::TensorType type;  // of what it makes
  bool operator==(const Preparation&) const = default;
};

// The kernels of a program, by number, and which one computes an operator.
struct KernelTable {
  std::vector<Kernel> kernels;
  std::vector<std::optional<std::size_t>> of;      // by OperatorId
  std::vector<std::vector<Preparation>> prepared;  // by OperatorId
};

struct ScheduleOptions {
  std::int64_t parts = 0;  // into how many parts a kernel's box is cut, as far as it can be; 0: as many as are worth it
  const std::vector<std::string>* output_names = nullptr;  // else the values' names
};
// Pre: the block program is one of all devices.
Schedule schedule(const ir::BlockProgram& blocks, const KernelTable& kernels, const ScheduleOptions& options = {});

// Places the buffers in the arena: none overlaps another that lives at the same time.
void plan_memory(Schedule& schedule);

std::string print(const Schedule& schedule);

// The words of runtime/schedule_tables.h. Code with the schedule may use these features of a processor (library.h).
std::vector<std::int64_t> encode(const Schedule& schedule, const std::vector<std::string>& features = {});

}  // namespace tap::backend
